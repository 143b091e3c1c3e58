/** The files about an entry that no node can apply: their description of it, and the command that replaces it. */
import t from 'tap'
import type { SkipDecision } from '../../cluster/index.ts'
import { reportError } from '../../src/cli/base/exit.ts'
import { carriedIn, skipCommand, type SkipPlan, skipStatement } from '../../src/quorum-recovery/skip-files.ts'
import type { Proposal } from '../../src/state-machine/commands.ts'
import { CARRIED_MAX } from '../../src/state-machine/skipped-entries/skipped-entries.ts'
import { decodeCommand, encodeCommand } from '../../src/commands/command-codec.ts'
import { ApplyFailure } from '../../cluster/node/state/apply-failure.ts'
import { auditRows, links, verdict } from '../state-machine/audit-world.ts'
import { worldWithBucket } from '../state-machine/map-world.ts'

const DECISION: SkipDecision = {
  index: 11,
  term: 4,
  digest: 'ab',
  why: 'unknown cause',
  recoveryEpoch: 0,
  before: { index: 10, term: 4, checksum: 'cd' },
  checksums: [],
  holders: ['n1', 'n2'],
  behind: ['n3', 'n4'],
  uncompared: ['n4'],
  dead: ['n5'],
}

const commands = [
  encodeCommand({ type: 'ofNoVersion', origin: { requestId: 'req_1' } } as never),
  Uint8Array.of(0xc1),
  encodeCommand({ type: 'noteUses' } as never),
]

const PLAN: SkipPlan = {
  format: 1,
  planId: 'sp_1',
  madeAt: 5,
  version: '0',
  clusterId: 'c',
  reason: 'issue-4711',
  decision: DECISION,
  carried: carriedIn(commands),
  statement: [],
}

t.test('the commands of an entry are named, including those that this version does not know', async (t) => {
  t.strictSame(carriedIn(commands), {
    count: 3,
    commands: [
      { type: 'ofNoVersion', requestId: 'req_1' },
      { type: null, requestId: null },
      { type: 'noteUses', requestId: null },
    ],
  })
  t.strictSame(carriedIn(null), { count: 0, commands: null })
  const many = Array.from({ length: CARRIED_MAX + 5 }, () => commands[0] ?? new Uint8Array())
  t.match(carriedIn(many), { count: CARRIED_MAX + 5, commands: { length: CARRIED_MAX } })
})

t.test(
  'the statement names the lost commands, the nodes that are compared later and the nodes that may have answered',
  async (t) => {
    const text = skipStatement(DECISION, PLAN.carried).join('\n')
    t.match(
      text,
      /Entry 11 of term 4, digest ab, is skipped on every node: it cannot be applied \(unknown cause\)/,
    )
    t.match(
      text,
      /contains 3 commands, and none of them takes effect: ofNoVersion \(req_1\), unknown, noteUses\./,
    )
    t.match(text, /The logs of n3, n4 end before it\. The states of n4 cannot be compared yet/)
    t.match(text, /n5 may have applied it and sent answers/)
    t.match(
      skipStatement(DECISION, carriedIn(null)).join('\n'),
      /cannot be decoded, so it is unknown what is lost/,
    )
  },
)

t.test('the command depends only on the plan, and leaves exactly one row in the audit log', async (t) => {
  t.ok(
    Buffer.from(skipCommand(PLAN)).equals(
      skipCommand({ ...PLAN, madeAt: 6, version: '1', statement: ['x'] }),
    ),
  )
  const world = worldWithBucket()
  const [before, known] = [new Map(world.rows), links(world).length]
  const [reply] = world.entry([decodeCommand(skipCommand(PLAN)) as Proposal])
  t.match(reply, { ok: true, value: null })
  t.equal(links(world).length, known + 1)
  t.match(auditRows(world).at(-1), {
    operation: 'skipEntry',
    actor: { type: 'system' },
    reason: 'issue-4711',
    requestId: 'sp_1',
    nodeId: 'n1',
    details: {
      planId: 'sp_1',
      entryIndex: 11,
      entryTerm: 4,
      digest: 'ab',
      why: 'unknown cause',
      carriedCount: 3,
      carried: [{ type: 'ofNoVersion', requestId: 'req_1' }, {}, {}],
    },
  })
  t.strictSame(verdict(world), [])
  const changed = [...world.rows].filter(([key, row]) => before.get(key) !== row).map(([key]) => key)
  t.ok(
    changed.every((key) => key.startsWith('audit')),
    changed.join(),
  )
})

t.test('[apply_failed] is printed with the cause and the runbook, without a stack', async (t) => {
  const entry = { index: 11, term: 4, kind: 'command', data: Uint8Array.of(1) } as const
  const writes = t.capture(process.stderr, 'write', () => true)
  const code = await reportError(new ApplyFailure('n1', entry, new Error('a claim\nis false')), false)
  const printed = writes().map(({ args }) => String(args[0]))
  t.equal(code, 1)
  t.match(
    printed.join(''),
    /^error: Node n1 stops: .* entry 11 of term 4 .*: a claim\n.*skip-entry\.md\.\n$/s,
  )
  t.notMatch(printed.join(''), /\n +at /)
})
