/**
 * The sentence on top of the console: when data is called safe, and what is found first when it is not.
 */
import t from 'tap'
import { judge, lastBackupAt } from '../../packages/console/src/judge/health.ts'
import { csv } from '../../packages/console/src/words/csv.ts'
import { bytes, duration } from '../../packages/console/src/words/format.ts'
import {
  AT,
  good,
  member,
  membership,
  node,
  operation,
  placement,
  repair,
  schedule,
  WHOLE,
} from './health-facts.ts'

const titles = (facts: Parameters<typeof judge>[0]): readonly string[] =>
  judge(facts).findings.map(({ level, title }) => `${level}: ${title}`)

t.test('data is called safe only when everything is known and nothing is found', async (t) => {
  t.match(judge(WHOLE), { level: 'safe', findings: [], why: /1 of 3 voters may fail/ })
  for (const part of ['membership', 'placement', 'repair', 'doctor'] as const)
    t.match(judge({ ...WHOLE, [part]: null }), { level: 'unknown' }, `without ${part}`)
})

t.test('what is urgent comes first and makes the sentence', async (t) => {
  const judged = judge({
    ...WHOLE,
    membership: membership({ members: [member('n1'), member('n2', { reachable: false }), member('n3')] }),
    placement: placement({ singleCopies: 1200 }),
    repair: repair({ nodes: [node({ pending: 1 }), node({ nodeId: 'n3', pending: 2 })] }),
  })
  t.match(judged, {
    level: 'danger',
    why: /^n2 does not answer: one more failure stops writes\. .*replace it\.$/,
  })
  t.same(
    judged.findings.map(({ replace }) => replace),
    ['n2', null, null],
    'a link leads to the replacement of the member that does not answer, and of no other',
  )
  t.same(
    judged.findings.map(({ level, title }) => `${level}: ${title}`),
    [
      'danger: n2 does not answer: one more failure stops writes',
      'danger: 1,200 chunks have one copy only',
      'attention: 3 copies are owed',
    ],
  )
})

t.test('what is owed is counted by the nodes, because placement shows the first chunks alone', async (t) => {
  const first = placement({ isTruncated: true, owed: { copies: 0, bytes: 0 } })
  const owing = repair({ nodes: [node({ pending: 7 })] })
  t.same(titles({ ...WHOLE, placement: first, repair: owing }), ['attention: 7 copies are owed'])
  t.match(judge({ ...WHOLE, placement: first }), { level: 'safe', why: /No node owes a copy/ })
})

t.test('without a majority that is said, and not that one more may fail', async (t) => {
  const lost = membership({ authoritative: false, leaderId: null })
  t.same(titles({ ...WHOLE, membership: lost }), ['danger: No majority of voters answers'])
})

t.test('a schedule whose backups fail is a finding until one succeeds', async (t) => {
  const last = { ...good(AT), outcome: 'failed', error: 'The folder is full' } as const
  const failing = schedule({ failures: 2, last })
  t.match(judge({ ...WHOLE, schedules: [failing] }), {
    level: 'attention',
    findings: [{ title: /schedule nightly fail, 2 in a row/, todo: 'The folder is full', screen: 'backups' }],
  })
  t.same(judge({ ...WHOLE, schedules: [{ ...failing, paused: true }] }).findings, [], 'paused on purpose')
  t.match(judge({ ...WHOLE, schedules: null }), { level: 'safe' }, 'copies are safe without backups')
  const later = '2026-02-01T00:00:00.000Z'
  t.equal(lastBackupAt([schedule({ lastGood: good(later) }), schedule()]), later)
  t.equal(lastBackupAt([schedule({ lastGood: null })]), null)
})

t.test('each condition has a finding', async (t) => {
  const cases: readonly (readonly [Partial<typeof WHOLE>, RegExp])[] = [
    [
      { membership: membership({ members: [member('n1')], failureTolerance: 0 }) },
      /attention: The cluster has 1 voter$/,
    ],
    [
      { membership: membership({ members: [...membership().members, member('n4', { stateEqual: false })] }) },
      /danger: The state of n4/,
    ],
    [
      { membership: membership({ members: [...membership().members, member('n4', { version: '0.2.0' })] }) },
      /attention: .*0\.2\.0, 0\.3\.0/,
    ],
    [
      {
        membership: membership({
          members: [
            ...membership().members,
            member('n4', { conditions: [{ code: 'member_rolled_back', message: 'M' }] }),
          ],
        }),
      },
      /danger: n4: member_rolled_back/,
    ],
    [{ placement: placement({ singleZones: 2 }) }, /attention: 2 chunks lie in one zone/],
    [{ repair: repair({ nodes: [node({ reachable: false })] }) }, /attention: n1 does not report/],
    [
      {
        repair: repair({
          nodes: [node({ disk: { level: 'stopPlacing', totalBytes: 9, freeBytes: 1, isSuspect: false } })],
        }),
      },
      /attention: The disk of n1 takes no new copies/,
    ],
    [
      {
        repair: repair({
          nodes: [node({ disk: { level: 'reserve', totalBytes: 9, freeBytes: 1, isSuspect: true } })],
        }),
      },
      /danger: The disk of n1 is full.*attention: A disk of n1 gives errors/,
    ],
    [{ repair: repair({ nodes: [node({ directoriesLost: 1 })] }) }, /danger: n1 has lost 1 data directory/],
    [
      { repair: repair({ collection: { halted: { reason: 'R', since: AT }, resumed: null } }) },
      /attention: Collection is halted/,
    ],
    [
      {
        repair: repair({
          lastRecount: { nodeId: 'n1', at: AT, rows: 9, differences: 2, firstDifference: null },
        }),
      },
      /attention: The last recount found 2/,
    ],
  ]
  for (const [facts, expected] of cases) t.match(titles({ ...WHOLE, ...facts }).join(', '), expected)
})

t.test('a failed operation counts until the same was tried again', async (t) => {
  t.match(titles({ ...WHOLE, operations: [operation()] }), ['attention: Operation scrub failed'])
  const again = operation({ status: 'succeeded', error: null })
  t.same(titles({ ...WHOLE, operations: [again, operation()] }), [])
  const blockers = [{ code: 'c', message: 'A voter is down' }]
  const held = operation({ status: 'running', finishedAt: null, error: null, blockers })
  t.match(titles({ ...WHOLE, operations: [held] }), ['attention: Operation scrub waits'])
})

t.test('figures', async (t) => {
  t.same([0, 1023, 1024, 1_567_000_000].map(bytes), ['0 B', '1023 B', '1.00 KiB', '1.46 GiB'])
  t.same([0.25, 59, 3600, 12_000, 90_061].map(duration), ['250 ms', '59 s', '1 h', '3 h 20 min', '1 d 1 h'])
})

t.test('a saved table quotes what has to be quoted, and begins no cell with a formula', async (t) => {
  const rows = [['a,b', 'say "x"', '=1+1', null, -5, ['z']]]
  t.equal(csv(['one', 'two'], rows), `one,two\r\n"a,b","say ""x""",'=1+1,,-5,"[""z""]"\r\n`)
})
