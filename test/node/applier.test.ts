/**
 * The path from committed entries to the state: which entries share a batch, and how an install affects waiting entries.
 */
import t from 'tap'
import { Applier } from '../../cluster/node/state/applier.ts'
import { DEFAULT_NODE_LIMITS, type NodeLimits } from '../../cluster/node/base/limits.ts'
import { encodeCommandEntry, encodeRaise } from '../../cluster/node/base/log-entry.ts'
import {
  decodeMachineRecord,
  encodeMachineRecord,
  type MachineRecord,
} from '../../cluster/node/base/machine-record.ts'
import { decodeRecoveryNote, encodeRecoveryNote } from '../../cluster/node/base/recovery-note.ts'
import { encodeConfiguration } from '../../cluster/raft/configuration.ts'
import type { Entry } from '../../cluster/raft/types.ts'
import { StateDamagedError } from '../../cluster/base/types.ts'
import { command, MemoryState, MemoryStateMachine } from '../helpers/memory-state-machine.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'

const session = { nodeId: 'n1', incarnation: 'i1', boot: 1 }

const EMPTY: MachineRecord = {
  appliedIndex: 0,
  appliedTerm: 0,
  lastTime: 0,
  withheldMs: 0,
  highTime: 0,
  configuration: { voters: ['n1'], learners: [], outgoing: [] },
  configurationIndex: 0,
  sessions: [],
  recoveryEpoch: 0,
  featureLevel: 1,
}

function entry(index: number, { boot = session.boot } = {}): Entry {
  const proposal = { ...session, boot, sequence: index, ackedBelow: 0, command: command(`append ${index}`) }
  return { index, term: 1, kind: 'command', data: encodeCommandEntry({ time: index, proposals: [proposal] }) }
}

function entries(first: number, last: number): Entry[] {
  return Array.from({ length: last - first + 1 }, (_, i) => entry(first + i))
}

/** A state that takes 10 ms for each write. */
class ApplierBench {
  readonly clock = new VirtualClock()
  readonly state = new MemoryState()
  readonly machine = new MemoryStateMachine(this.state, {
    flush: () => new Promise((resolve) => void this.clock.after(10, resolve)),
  })
  readonly points: number[] = []
  readonly failures: Error[] = []
  readonly damages: Error[] = []
  readonly replies: number[] = []
  readonly applier: Applier

  constructor(limits: Partial<NodeLimits> = {}) {
    this.applier = new Applier({
      stateMachine: this.machine,
      session,
      limits: { ...DEFAULT_NODE_LIMITS, ...limits },
      record: EMPTY,
      onApplied: (_, completions) => this.replies.push(...completions.map(({ sequence }) => sequence)),
      onPoint: (index) => this.points.push(index),
      onDamaged: (damage) => this.damages.push(damage),
      onFatal: (error) => this.failures.push(error),
    })
  }
}

const raise = (index: number, level: number): Entry => {
  return { index, term: 1, kind: 'command', data: encodeRaise({ time: index, level }) }
}

const configured = (index: number): Entry => {
  const data = encodeConfiguration({ voters: ['n1'], learners: ['n2'], outgoing: [] })
  return { index, term: 1, kind: 'configuration', data }
}

t.test('Applier', async (t) => {
  t.test('ends a batch where its entries may change too many rows', async (t) => {
    // A small command is estimated to change 13 rows.
    const bench = new ApplierBench({ applyCostMax: 30 })
    bench.applier.push(entries(1, 5))
    await bench.clock.advance(1_000)
    const sizes = bench.machine.batches.map((batch) => batch.entries.length)
    t.same(sizes, [2, 2, 1])
    t.same(bench.replies, [1, 2, 3, 4, 5])
  })

  t.test(
    'asks the state machine how much a command may change, and takes one entry at any cost',
    async (t) => {
      const bench = new ApplierBench({ applyCostMax: 30 })
      Object.assign(bench.machine, { cost: (bytes: Uint8Array) => 20 * bytes.length })
      bench.applier.push(entries(1, 3))
      await bench.clock.advance(1_000)
      t.same(
        bench.machine.batches.map((batch) => batch.entries.length),
        [1, 1, 1],
      )
    },
  )

  t.test('decodes an entry once: for its cost and to be applied', async (t) => {
    const bench = new ApplierBench({ applyCostMax: 30 })
    const asked = new Set<Uint8Array>()
    Object.assign(bench.machine, { cost: (bytes: Uint8Array) => (asked.add(bytes), 13) })
    bench.applier.push(entries(1, 5))
    await bench.clock.advance(1_000)
    const applied = bench.machine.batches.flatMap((batch) =>
      batch.entries.flatMap(({ commands }) => commands),
    )
    t.equal(applied.length, 5)
    // The last one was taken alone, so its cost was not asked for.
    t.ok(
      applied.slice(0, 4).every((bytes) => asked.has(bytes)),
      'the bytes that were asked about',
    )
  })

  t.test('raises the feature level, and never lowers it', async (t) => {
    const bench = new ApplierBench({ featureLevelMax: 3 })
    bench.applier.push([entry(1), raise(2, 3), raise(3, 2), entry(4)])
    await bench.clock.advance(1_000)
    t.equal(bench.applier.featureLevel, 3)
    const { record } = bench.state.current
    t.match(record && decodeMachineRecord(record), { appliedIndex: 4, featureLevel: 3, lastTime: 4 })
    const levels = bench.machine.batches.flatMap((batch) =>
      batch.entries.map(({ featureLevel }) => featureLevel),
    )
    t.same(levels, [1, 3], 'each entry is applied at the level of the state at its index')
    t.strictSame(bench.replies, [1, 4])
  })

  t.test('stops at a raise above the level of this node, and keeps no part of it', async (t) => {
    const bench = new ApplierBench({ featureLevelMax: 2 })
    bench.applier.push([entry(1)])
    await bench.clock.advance(1_000)
    bench.applier.push([raise(2, 3), entry(3)])
    await bench.clock.advance(1_000)
    t.match(bench.failures, [{ message: /raises the state to feature level 3, this node knows 2/ }])
    t.equal(bench.applier.appliedIndex, 1)
    const { record } = bench.state.current
    t.match(record && decodeMachineRecord(record), { appliedIndex: 1, featureLevel: 1 })
  })

  t.test('takes a checksum at every point, also when entries arrive without a pause', async (t) => {
    const bench = new ApplierBench({ checksumEvery: 4 })
    bench.applier.push(entries(1, 18))
    await bench.clock.advance(1_000)
    t.equal(bench.applier.appliedIndex, 18)
    t.strictSame(bench.points, [4, 8, 12, 16])
  })

  t.test('counts entries as applied when they are durable, and not earlier', async (t) => {
    const bench = new ApplierBench()
    bench.applier.push(entries(1, 3))
    await bench.clock.advance(5)
    t.equal(bench.applier.appliedIndex, 0, 'the write is in flight')
    await bench.clock.advance(20)
    t.equal(bench.applier.appliedIndex, 3)
  })

  t.test(
    'flushes the facts by which it judges peers and its own disk, before their entries count as applied',
    async (t) => {
      const cases: readonly (readonly [string, readonly Entry[], number])[] = [
        ['a registration', entries(1, 1), 1],
        ['further commands of a registered process', entries(2, 4), 0],
        ['the next process of that directory', [entry(5, { boot: 2 })], 1],
        ['a raise of the level', [raise(6, 3)], 1],
        ['a configuration', [configured(7)], 1],
        ['no fact', [entry(8, { boot: 2 }), entry(9, { boot: 2 })], 0],
      ]
      const bench = new ApplierBench({ featureLevelMax: 3 })
      const checkpoint = bench.machine.checkpoint.bind(bench.machine)
      let durable: readonly number[] = []
      bench.machine.checkpoint = async () => {
        const { appliedIndex } = bench.applier
        await checkpoint()
        durable = [...durable, appliedIndex]
      }
      for (const [what, pushed, count] of cases) {
        durable = []
        const before = bench.applier.appliedIndex
        bench.applier.push(pushed)
        await bench.clock.advance(1_000)
        t.strictSame(
          durable,
          Array.from({ length: count }, () => before),
          what,
        )
        t.equal(bench.applier.appliedIndex, pushed.at(-1)?.index)
      }
    },
  )

  t.test('stops where the flush of such a fact fails', async (t) => {
    const bench = new ApplierBench()
    bench.machine.checkpoint = () => Promise.reject(new Error('EIO: simulated'))
    bench.applier.push(entries(1, 2))
    await bench.clock.advance(1_000)
    t.match(bench.failures, [{ message: /Cannot apply the log: EIO/ }])
    t.strictSame([bench.applier.appliedIndex, bench.replies], [0, []])
  })

  t.test('replaces the state only when the batch in progress is finished', async (t) => {
    const bench = new ApplierBench()
    bench.applier.push(entries(1, 3))
    let appliedAtInstall = -1
    const installed = bench.applier.install(async () => {
      appliedAtInstall = bench.applier.appliedIndex
      return null
    })
    t.equal(await bench.clock.resolve(installed, { limitMs: 1_000 }), null)
    t.equal(appliedAtInstall, 3)
  })

  t.test(
    'returns no reply of a state found damaged meanwhile, and continues with another state',
    async (t) => {
      const bench = new ApplierBench()
      bench.applier.push(entries(1, 3))
      await bench.clock.advance(5)
      bench.applier.suspend()
      bench.applier.push(entries(4, 6))
      await bench.clock.advance(100)
      t.equal(bench.applier.appliedIndex, 3, 'the batch in flight is present')
      t.strictSame(bench.replies, [], 'and no caller gets its reply')
      const record = encodeMachineRecord({ ...EMPTY, appliedIndex: 4, appliedTerm: 1, lastTime: 4 })
      const happened: string[] = []
      const apply = bench.machine.apply.bind(bench.machine)
      bench.machine.apply = (batch) => {
        happened.push(`apply from ${batch.entries[0]?.index ?? 0}`)
        return apply(batch)
      }
      const installed = bench.applier.install(
        async () => record,
        ({ appliedIndex }) => happened.push(`adopted ${appliedIndex}`),
      )
      await bench.clock.resolve(installed, { limitMs: 1_000 })
      await bench.clock.advance(100)
      t.strictSame(happened, ['adopted 4', 'apply from 5'])
      t.equal(bench.applier.appliedIndex, 6)
      t.strictSame(bench.replies, [5, 6])
    },
  )

  t.test('keeps the entries of a batch that found damage for the next state', async (t) => {
    const bench = new ApplierBench()
    bench.state.fault = new StateDamagedError('row 7')
    bench.applier.push(entries(1, 3))
    await bench.clock.advance(100)
    bench.state.fault = null
    bench.applier.push(entries(4, 5))
    await bench.clock.advance(100)
    t.match(bench.damages, [{ message: 'row 7' }])
    t.strictSame([bench.failures, bench.applier.appliedIndex, bench.machine.texts], [[], 0, []])
    const record = encodeMachineRecord({ ...EMPTY, appliedIndex: 1, appliedTerm: 1, lastTime: 1 })
    await bench.clock.resolve(
      bench.applier.install(async () => record),
      { limitMs: 1_000 },
    )
    await bench.clock.advance(100)
    t.strictSame(bench.machine.texts, ['2', '3', '4', '5'])
    t.strictSame(bench.replies, [2, 3, 4, 5])
  })

  t.test('takes votes, epoch, level and command of a recovery from one entry', async (t) => {
    const bench = new ApplierBench()
    const configuration = { voters: ['n1'], learners: ['n2'], outgoing: [] }
    const note = {
      planId: 'rp_1',
      recoveryEpoch: 4,
      featureLevel: 2,
      time: 1_000,
      command: command('append back'),
    }
    const data = encodeConfiguration(configuration, encodeRecoveryNote(note))
    bench.applier.push([...entries(1, 2), { index: 3, term: 9, kind: 'configuration', data }, entry(4)])
    await bench.clock.advance(100)
    t.strictSame(bench.machine.texts, ['1', '2', 'back', '4'])
    t.match(bench.applier, { recoveryEpoch: 4, featureLevel: 2, configurationIndex: 3, configuration })
    t.strictSame(bench.replies, [1, 2, 4], 'no caller waits for an answer to it')
    const times = bench.machine.batches.flatMap((batch) => batch.entries.map(({ time }) => time))
    t.strictSame(times, [1, 2, 1_000, 1_001], 'and time continues from there')
    t.throws(() => decodeRecoveryNote(Uint8Array.of(0x91, 2)), /list of six/)
  })

  t.test('applies no entry that the installed state holds, and continues after it', async (t) => {
    const bench = new ApplierBench()
    const installed = bench.applier.install(async () => {
      bench.applier.push(entries(1, 7))
      return encodeMachineRecord({ ...EMPTY, appliedIndex: 5, appliedTerm: 1, lastTime: 5 })
    })
    await bench.clock.resolve(installed, { limitMs: 1_000 })
    await bench.clock.advance(100)
    t.strictSame(bench.failures, [])
    t.strictSame(bench.machine.texts, ['6', '7'])
    t.equal(bench.applier.appliedIndex, 7)
  })
})
