/**
 * An entry that cannot be applied: the error of the node, and the replacement when an operator skips the entry.
 */
import t from 'tap'
import { Applier } from '../../cluster/node/state/applier.ts'
import { ApplyFailure } from '../../cluster/node/state/apply-failure.ts'
import { digestOfEntry, type EntrySkip } from '../../cluster/node/base/entry-skips.ts'
import { DEFAULT_NODE_LIMITS } from '../../cluster/node/base/limits.ts'
import { encodeCommandEntry, encodeRaise } from '../../cluster/node/base/log-entry.ts'
import { decodeMachineRecord, type MachineRecord } from '../../cluster/node/base/machine-record.ts'
import { encodeConfiguration } from '../../cluster/raft/configuration.ts'
import type { Entry } from '../../cluster/raft/types.ts'
import { command, MemoryState, MemoryStateMachine } from '../helpers/memory-state-machine.ts'
import { NodeWorld } from '../helpers/node-world.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'

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

function commandEntry(index: number, texts: readonly string[], sequence = index): Entry {
  const session = { nodeId: 'n2', incarnation: 'i2', boot: 7, ackedBelow: 0 }
  const proposals = texts.map((text, i) => ({ ...session, sequence: sequence + i, command: command(text) }))
  return { index, term: 1, kind: 'command', data: encodeCommandEntry({ time: index * 10, proposals }) }
}

const appended = (index: number): Entry => commandEntry(index, [`append ${index}`])
const unreadable = (index: number): Entry => ({
  index,
  term: 1,
  kind: 'command',
  data: Uint8Array.of(0x91, 9),
})

function skipping(entry: Entry, changes: Partial<EntrySkip> = {}): EntrySkip {
  const { index, term } = entry
  const bound = { planId: 'sp_1', index, term, digest: digestOfEntry(entry) }
  return { ...bound, command: command(`append instead of ${index}`), ...changes }
}

async function applied(entries: readonly Entry[], skips: readonly EntrySkip[] = []) {
  const clock = new VirtualClock()
  const state = new MemoryState()
  const machine = new MemoryStateMachine(state)
  const failures: Error[] = []
  const applier = new Applier({
    stateMachine: machine,
    session: { nodeId: 'n1', incarnation: 'i1', boot: 1 },
    limits: { ...DEFAULT_NODE_LIMITS, featureLevelMax: 2 },
    record: EMPTY,
    skips,
    onApplied: () => undefined,
    onPoint: () => undefined,
    onDamaged: (damage) => failures.push(damage),
    onFatal: (error) => failures.push(error),
  })
  applier.push(entries)
  await clock.advance(100)
  const [failure] = failures
  return { applier, machine, state, failure: failure instanceof ApplyFailure ? failure : null, failures }
}

t.test('an entry that cannot be applied', async (t) => {
  t.test('[apply_failed] ends the node by its index, term, digest and the reason', async (t) => {
    const poison = commandEntry(2, ['append x', 'poison'])
    const { failure, machine, applier } = await applied([appended(1), poison, appended(3)])
    t.match(failure, {
      code: 'apply_failed',
      obstacle: { index: 2, term: 1, kind: 'command', digest: digestOfEntry(poison), isSkippable: true },
      hint: /keep it\. .* follow deploy\/runbooks\/skip-entry\.md/,
    })
    t.equal(
      failure?.message,
      `Node n1 stops: it cannot apply entry 2 of term 1 (command, digest ${digestOfEntry(poison)}): no node survives poison`,
    )
    t.strictSame([machine.texts, applier.appliedIndex], [[], 0], 'and its batch has no effect')
  })

  t.test('also when it is unreadable, and the entries before it are applied', async (t) => {
    const { failure, machine } = await applied([appended(1), unreadable(2), appended(3)])
    t.match(failure, { code: 'apply_failed', obstacle: { index: 2, isSkippable: true } })
    t.strictSame(machine.texts, ['1'])
  })

  t.test('is not to be skipped when it raises the level or changes the members', async (t) => {
    const data = encodeRaise({ time: 1, level: 3 })
    const raised = await applied([{ index: 1, term: 1, kind: 'command', data }])
    t.match(raised.failure, {
      code: 'feature_level_too_high',
      message: /cannot apply entry 1 of term 1 .* raises the state to feature level 3, this node knows 2$/,
      obstacle: { isSkippable: false },
      hint: /Start the version that the other nodes run/,
    })
    const changed = await applied([{ index: 1, term: 1, kind: 'configuration', data: Uint8Array.of(9) }])
    t.match(changed.failure, {
      code: 'apply_failed',
      obstacle: { kind: 'configuration', isSkippable: false },
    })
  })

  t.test('is not reported for a failing disk', async (t) => {
    const state = new MemoryState()
    state.fault = new Error('the disk is full')
    const failures: Error[] = []
    const applier = new Applier({
      stateMachine: new MemoryStateMachine(state),
      session: { nodeId: 'n1', incarnation: 'i1', boot: 1 },
      limits: DEFAULT_NODE_LIMITS,
      record: EMPTY,
      onApplied: () => undefined,
      onPoint: () => undefined,
      onDamaged: () => undefined,
      onFatal: (error) => failures.push(error),
    })
    applier.push([appended(1)])
    await new VirtualClock().advance(100)
    t.match(failures, [{ message: 'Cannot apply the log: the disk is full' }])
    t.notOk(failures[0] instanceof ApplyFailure)
  })
})

t.test('an entry that is skipped', async (t) => {
  t.test('has no effect, and the order takes its place', async (t) => {
    const poison = commandEntry(2, ['append x', 'poison'], 20)
    const { failures, machine, applier } = await applied(
      [appended(1), poison, appended(3)],
      [skipping(poison)],
    )
    t.strictSame(failures, [])
    t.strictSame(machine.texts, ['1', 'instead of 2', '3'])
    t.equal(applier.appliedIndex, 3)
    const times = machine.batches.flatMap((batch) => batch.entries.map(({ index, time }) => [index, time]))
    t.strictSame(times, [
      [1, 10],
      [2, 20],
      [3, 30],
    ])
  })

  t.test('does not take effect where it was proposed again', async (t) => {
    const poison = commandEntry(2, ['append x', 'poison'], 20)
    const again = commandEntry(3, ['append x', 'poison'], 20)
    const { failures, machine, state } = await applied([appended(1), poison, again], [skipping(poison)])
    t.strictSame(failures, [])
    t.strictSame(machine.texts, ['1', 'instead of 2'])
    const { record } = state.current
    t.match(record && decodeMachineRecord(record).sessions, [
      { nodeId: 'n2', boot: 7, applied: [1, 1, 20, 21] },
    ])
  })

  t.test('need not be readable', async (t) => {
    const { failures, machine } = await applied(
      [appended(1), unreadable(2), appended(3)],
      [skipping(unreadable(2))],
    )
    t.strictSame(failures, [])
    t.strictSame(machine.texts, ['1', 'instead of 2', '3'])
  })

  t.test(
    'is exactly the entry of the order: another term is another entry, another digest ends the node',
    async (t) => {
      const otherTerm = await applied([appended(1)], [skipping(appended(1), { term: 2 })])
      t.strictSame(otherTerm.machine.texts, ['1'])
      const otherDigest = await applied([appended(1)], [skipping(appended(1), { digest: 'ab' })])
      t.match(otherDigest.failure, { code: 'apply_failed', message: /plan sp_1 skips: its digest differs/ })
      const change = { voters: ['n1'], learners: ['n2'], outgoing: [] }
      const configuration: Entry = {
        index: 1,
        term: 1,
        kind: 'configuration',
        data: encodeConfiguration(change),
      }
      const members = await applied([configuration], [skipping(configuration)])
      t.match(members.applier.configuration, change, 'a change of the members is never skipped')
    },
  )
})

async function untilFailed(world: NodeWorld, nodeId: string): Promise<ApplyFailure> {
  const failure = await world.run(world.node(nodeId).failed, 60_000)
  if (!(failure instanceof ApplyFailure)) throw failure
  return failure
}

t.test('three nodes', async (t) => {
  for (const seed of [1, 2, 3, 4]) {
    const world = await NodeWorld.started({ seed })
    t.teardown(() => world.stopAll())
    const leader = world.leaderOrDie()
    for (let i = 0; i < 3 + (world.random() % 5); i++) await world.run(world.append(leader, `${i}`))
    const outcomes = ['append with it', 'poison', 'append after it'].map((text) =>
      world
        .node(leader)
        .propose(command(text))
        .then(
          () => 'answered',
          (error: { code: string }) => error.code,
        ),
    )
    const { obstacle } = await untilFailed(world, leader)
    t.strictSame(
      await world.run(Promise.all(outcomes)),
      ['commit_unknown', 'commit_unknown', 'commit_unknown'],
      'no proposal succeeded',
    )
    for (const nodeId of world.nodeIds) world.crash(nodeId)
    const found = world
      .disk(leader)
      .read()
      .entries.find(({ index }) => index === obstacle.index)
    if (found === undefined) throw new Error('the leader holds the entry')
    t.equal(digestOfEntry(found), obstacle.digest)

    const [forgotten = '', ...ordered] = world.nodeIds.toSorted(() => (world.random() % 2) - 0.5)
    for (const nodeId of ordered) world.skips.set(nodeId, [skipping(found)])
    for (const nodeId of world.nodeIds) await world.start(nodeId)
    const second = await untilFailed(world, forgotten)
    t.match(
      second.obstacle,
      { index: obstacle.index, term: obstacle.term },
      'a node without the order stops there',
    )
    world.crash(forgotten)
    await world.untilReady()
    world.skips.set(forgotten, [skipping(found)])
    await world.start(forgotten)
    await world.untilReady()
    await world.run(world.append(world.leaderOrDie(), 'the end'))
    await world.untilEqual()
    const [one, ...others] = world.nodeIds.map((nodeId) => world.state(nodeId))
    t.ok(one?.current.texts.includes(`instead of ${obstacle.index}`))
    t.notOk(one?.current.texts.includes('with it'), 'commands in the same entry had no effect')
    for (const other of others) {
      t.strictSame(other.current.texts, one?.current.texts)
      t.ok(Buffer.from(other.sum).equals(one?.sum ?? new Uint8Array()), 'equal checksums')
    }
    await world.stopAll()
  }
})
