/**
 * What the doctor finds on the members, as the console judges it: who is not known, what is urgent, what may be intended.
 */
import t from 'tap'
import { firstToEnd } from '../../packages/console/src/judge/doctor.ts'
import { judge } from '../../packages/console/src/judge/health.ts'
import { AT, doctor, type Examined, examined, found, member, membership, WHOLE } from './health-facts.ts'

const titles = (facts: Parameters<typeof judge>[0]): readonly string[] =>
  judge(facts).findings.map(({ level, title }) => `${level}: ${title}`)

t.test('a member whose findings are not known is never called fine', async (t) => {
  for (const answer of ['unreachable', 'unsupported'] as const) {
    const facts = { ...WHOLE, doctor: doctor(examined('n1'), examined('n2', { answer, findings: [] })) }
    t.match(judge(facts), {
      level: 'attention',
      findings: [{ title: /at n2 is not known/, todo: /holdfast doctor/, page: 'doctor.html' }],
    })
  }
  const silent = membership({ members: [member('n1'), member('n2', { reachable: false }), member('n3')] })
  const both = { membership: silent, doctor: doctor(examined('n2', { answer: 'unreachable', findings: [] })) }
  t.notMatch(titles({ ...WHOLE, ...both }).join(), /at n2 is not known/, 'that it is silent is said once')
  t.match(titles({ ...WHOLE, doctor: doctor(examined('n1', { isTruncated: true })) }), [
    /^attention: More was/,
  ])
})

t.test('a check that could not be made is never called fine', async (t) => {
  t.match(judge({ ...WHOLE, doctor: doctor(examined('n1', { notChecked: ['clock', 'disk_space'] })) }), {
    level: 'attention',
    findings: [{ title: 'n1 could not check: disk_space' }],
  })
})

t.test('an error of the doctor is urgent, and what all members find is said once', async (t) => {
  const error = found({
    check: 'audit_log',
    severity: 'error',
    found: 'a segment is lost',
    action: 'Verify it',
  })
  const all = doctor(...['n1', 'n2'].map((nodeId) => examined(nodeId, { findings: [error, found()] })))
  t.match(judge({ ...WHOLE, doctor: all }), {
    level: 'danger',
    why: 'n1, n2: a segment is lost. Verify it',
    findings: [{ level: 'danger', title: 'n1, n2: a segment is lost', page: 'doctor.html' }],
  })
})

t.test('a warning that may be intended is shown, and data is still called safe', async (t) => {
  const swap = found({ check: 'keys_in_memory', severity: 'warning', found: 'swap is in use', action: 'Off' })
  t.match(judge({ ...WHOLE, doctor: doctor(examined('n1', { findings: [swap] })) }), {
    level: 'safe',
    findings: [{ level: 'notice', title: 'n1: swap is in use', todo: 'Off' }],
  })
  const filling = { ...swap, check: 'disk_space' }
  t.match(judge({ ...WHOLE, doctor: doctor(examined('n1', { findings: [filling] })) }), {
    level: 'attention',
  })
  const ofSchedules = { ...swap, check: 'backups' }
  t.same(titles({ ...WHOLE, doctor: doctor(examined('n1', { findings: [ofSchedules] })) }), [])
})

t.test('a certificate that ends soon is something to look at', async (t) => {
  const ends = found({
    check: 'listener_tls',
    severity: 'warning',
    found: 'it expires',
    action: 'Issue it again',
  })
  const certificate = (setting: string, term: 'valid' | 'endsSoon', notAfter = AT) => ({
    setting,
    term,
    notBefore: AT,
    notAfter,
  })
  const judged = (...certificates: Examined['certificates']) =>
    judge({ ...WHOLE, doctor: doctor(examined('n1', { findings: [ends], certificates })) })
  t.match(judged(certificate('admin_tls.cert', 'endsSoon')), {
    level: 'attention',
    findings: [{ todo: 'Issue it again', page: 'runbooks/rotate-certificates.html' }],
  })
  t.match(judged(certificate('admin_tls.cert', 'valid')), { level: 'safe' }, 'plain HTTP may be intended')
  const later = certificate('peer_tls.ca', 'valid', '2027-01-01T00:00:00.000Z')
  t.equal(firstToEnd([later, certificate('peer_tls.cert', 'valid')])?.setting, 'peer_tls.cert')
  t.equal(firstToEnd([]), null)
})
