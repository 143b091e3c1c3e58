/** GET /cluster/doctor: what the doctor finds on the members, who is not known, and who may see it. */
import t from 'tap'
import { DOCTOR_REPORT } from '../../cluster/base/report-port.ts'
import { readSelfReport, type SelfFinding, writeSelfReport } from '../../src/operations/doctor/self-report.ts'
import { ApiWorld } from './api-world.ts'

const PATH = '/admin/api/v1/cluster/doctor'

const WARNING: SelfFinding = {
  check: 'memory',
  severity: 'warning',
  found: '300 MiB of memory',
  expected: 'at least 512 MiB',
  action: 'Give it more.',
}
const CERTIFICATE = { setting: 'peer_tls.cert', validFrom: 0, validTo: 86_400_000, term: 'expired' } as const
const REPORT = { findings: [WARNING], notChecked: ['clock'], certificates: [CERTIFICATE] }

t.test('each member has its findings or is not known [membership.doctor]', async (t) => {
  const world = await ApiWorld.start(t)
  world.memory.doctors = [
    { nodeId: 'n1', bytes: writeSelfReport(REPORT), why: null },
    { nodeId: 'n2', bytes: null, why: 'unreachable' },
    { nodeId: 'n3', bytes: null, why: 'unsupported' },
    { nodeId: 'n4', bytes: Buffer.from('{"findings":7}'), why: null },
  ]
  const ask = async (role: 'viewer' | 'owner', tenant?: string) =>
    world.call({ admin: true, token: await world.memory.adminToken(role, tenant), path: PATH })
  const { status, json } = await ask('viewer')
  t.equal(status, 200)
  const unknown = { findings: [], notChecked: [], certificates: [], isTruncated: false }
  t.same(json, {
    nodes: [
      {
        nodeId: 'n1',
        answer: 'known',
        findings: [WARNING],
        notChecked: ['clock'],
        certificates: [
          {
            setting: 'peer_tls.cert',
            notBefore: '1970-01-01T00:00:00.000Z',
            notAfter: '1970-01-02T00:00:00.000Z',
            term: 'expired',
          },
        ],
        isTruncated: false,
      },
      { nodeId: 'n2', answer: 'unreachable', ...unknown },
      { nodeId: 'n3', answer: 'unsupported', ...unknown },
      { nodeId: 'n4', answer: 'unsupported', ...unknown },
    ],
  })
  await world.memory.tenant('acme')
  t.match(await ask('owner', 'acme'), { status: 403, code: 'tenant_scope_denied' })
})

t.test('a report keeps to its bound, and the most severe findings', async (t) => {
  const long = '\u0001'.repeat(5_000)
  const ok = { ...WARNING, severity: 'ok', found: long, expected: long, action: long } as const
  const error = { ...WARNING, severity: 'error' } as const
  const bytes = writeSelfReport({
    ...REPORT,
    findings: [...Array.from({ length: 500 }, () => ({ ...ok })), error],
  })
  t.ok(bytes.length <= DOCTOR_REPORT.bytesMax, `${bytes.length}`)
  const { findings, isTruncated } = readSelfReport(bytes)
  t.ok(isTruncated)
  t.same(findings.at(-1), error)
})

t.test('a report of another version is read as far as it is known, or refused', async (t) => {
  const newer = { ...REPORT, more: 1, findings: [{ ...WARNING, check: 'a_newer_check', more: 1 }] }
  t.match(readSelfReport(Buffer.from(JSON.stringify(newer))), { findings: [{ check: 'a_newer_check' }] })
  for (const wrong of [
    { findings: null },
    { findings: [{ ...WARNING, severity: 'fatal' }] },
    { findings: [{ ...WARNING, found: 'x'.repeat(10_000) }] },
    { certificates: [{ ...CERTIFICATE, validTo: 1e300 }] },
    { notChecked: [1] },
  ])
    t.throws(() => readSelfReport(Buffer.from(JSON.stringify({ ...REPORT, ...wrong }))), TypeError)
})
