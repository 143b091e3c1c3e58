/**
 * The peers that a node accepts: none left behind by a recovery, none with a state that is too new, no older copy of a data directory.
 */
import t from 'tap'
import { MemoryEpochFloor } from '../../cluster/node/base/epoch-floor.ts'
import { type Expulsion, expulsionOf } from '../../cluster/node/base/expulsion.ts'
import { FEATURE_LEVEL } from '../../cluster/node/base/feature-level.ts'
import { type GateState, PeerGate } from '../../cluster/node/peers/peer-gate.ts'
import { StartError } from '../../cluster/base/types.ts'
import { SILENT } from '../helpers/loggers.ts'
import { NodeWorld } from '../helpers/node-world.ts'

const claims = {
  nodeId: 'n2',
  incarnation: 'a',
  boot: 5,
  recoveryEpoch: 2,
  featureLevel: 3,
  stateLevel: 1,
}

function gateWith(
  changes: Partial<GateState> = {},
  {
    isRepairing = false,
    isBlank = false,
    epochFloor = new MemoryEpochFloor(),
    expelled = null as Expulsion | null,
  } = {},
) {
  const stale: StartError[] = []
  const reported: string[] = []
  const known: GateState = { recoveryEpoch: 2, featureLevel: 1, registered: () => null, ...changes }
  const gate = new PeerGate({
    nodeId: 'n1',
    boot: 9,
    featureLevelMax: 1,
    before: [4, 7],
    logger: SILENT,
    clock: () => ({ wall: 0, majority: null }),
    onClock: () => undefined,
    epochFloor,
    isBlank: () => isBlank,
    state: () => (isRepairing ? null : known),
    onStale: (error) => stale.push(error),
    expelled,
    onExpelled: (code) => reported.push(code),
  })
  return { gate, stale, reported, epochFloor }
}

t.test('PeerGate', async (t) => {
  t.test('accepts a matching peer, remembers its level, and reports its own claims', async (t) => {
    const { gate, stale } = gateWith({ registered: () => ({ incarnation: 'a', boot: 5 }) })
    t.equal(gate.featureLevelOf('n2'), null)
    t.equal(gate.judge(claims), null)
    t.equal(gate.judge({ ...claims, boot: 6 }), null, 'a later process need not be registered yet')
    t.equal(gate.featureLevelOf('n2'), 3)
    t.strictSame(gate.peerStatus(), {
      boot: 9,
      before: [4, 7],
      recoveryEpoch: 2,
      featureLevel: 1,
      stateLevel: 1,
      clock: { wall: 0, majority: null },
    })
    t.strictSame(stale, [])
  })

  t.test(
    'member_rolled_back: a copy is refused after any number of starts; a node that is behind accepts every peer',
    async (t) => {
      const registered = (boot: number) => gateWith({ registered: () => ({ incarnation: 'a', boot }) }).gate
      const copyClaims = { ...claims, boot: 90, before: [40, 60] }
      for (const boot of [7, 40, 60, 90])
        t.equal(registered(boot).judge(copyClaims), null, `${boot} is one of its own processes`)
      for (const boot of [41, 61, 89, 91])
        t.match(
          registered(boot).judge(copyClaims),
          { code: 'member_rolled_back' },
          `${boot} ran on another copy`,
        )
      t.equal(registered(90).judge({ ...copyClaims, before: [] }), null)
      t.match(registered(91).judge({ ...copyClaims, before: [] }), { code: 'member_rolled_back' })
      t.equal(
        registered(41).judge({ ...copyClaims, before: null }),
        null,
        'for an older build only the number counts',
      )
    },
  )

  t.test('member_rolled_back: refuses a process before the registered one', async (t) => {
    const { gate } = gateWith({ registered: () => ({ incarnation: 'a', boot: 6 }) })
    t.match(gate.judge(claims), {
      code: 'member_rolled_back',
      message: /process 5 .* process 6 has registered/,
    })
  })

  t.test('member_tombstoned: refuses another data directory after any number of starts', async (t) => {
    const { gate } = gateWith({ registered: () => ({ incarnation: 'b', boot: 1 }) })
    t.match(gate.judge(claims), { code: 'member_tombstoned' })
  })

  t.test('a node that was refused forever reports so once, and accepts no peer', async (t) => {
    for (const code of ['member_removed', 'member_tombstoned', 'member_rolled_back'] as const) {
      const { gate, reported } = gateWith()
      t.equal(gate.removalNotice, null)
      gate.onRefused('n3', 'shutting_down')
      gate.onRefused('n3', code)
      gate.onRefused('n2', 'member_removed')
      t.same(reported, [code])
      t.match(gate.removalNotice, /n1.* leave this data directory as it is.*--join/, code)
      t.match(gate.judge(claims), { code: 'expelled', message: gate.removalNotice })
      t.equal(gate.peerStatus().boot, code === 'member_rolled_back' ? 0 : 9)
    }
    t.equal(expulsionOf('stale_epoch'), null)
  })

  t.test(
    'a refusal of an earlier process holds from the start, and an older copy does not count itself in',
    async (t) => {
      const { gate, reported } = gateWith({}, { expelled: 'member_rolled_back' })
      t.match([gate.expelled, gate.peerStatus().boot, reported], ['member_rolled_back', 0, []])
      const { gate: peer } = gateWith({ registered: () => ({ incarnation: 'a', boot: 6 }) })
      t.match(peer.judge({ ...claims, ...gate.peerStatus() }), { code: 'member_rolled_back' })
    },
  )

  t.test('stale_epoch: refuses a peer that was left behind', async (t) => {
    const { gate, stale } = gateWith({ recoveryEpoch: 3 })
    t.match(gate.judge(claims), { code: 'stale_epoch', message: /epoch 2, the group is at 3/ })
    t.strictSame(stale, [])
  })

  t.test('stale_epoch: stops when it was left behind itself, at a message or a refusal', async (t) => {
    const { gate, stale } = gateWith({ recoveryEpoch: 1 })
    t.match(gate.judge(claims), { code: 'shutting_down' })
    gate.onRefused('n3', 'stale_epoch')
    t.match(stale, [{ code: 'stale_epoch', hint: /join again/ }, { message: /n3 is at a later/ }])
  })

  t.test('is at the epoch of its directory before its state has it', async (t) => {
    const { gate, stale } = gateWith({ recoveryEpoch: 1 }, { epochFloor: new MemoryEpochFloor(2) })
    t.match(gate.peerStatus(), { recoveryEpoch: 2 })
    t.equal(gate.judge(claims), null, 'of the same epoch')
    t.match(gate.judge({ ...claims, recoveryEpoch: 1 }), { code: 'stale_epoch' })
    t.match(gate.staleness({ ...claims, recoveryEpoch: 1 }), { code: 'stale_epoch' })
    const repair = gateWith({}, { isRepairing: true, epochFloor: new MemoryEpochFloor(2) })
    t.match(repair.gate.peerStatus(), { recoveryEpoch: 2 }, 'also when the state is lost')
    t.strictSame([...stale, ...repair.stale], [])
  })

  t.test('takes over the epoch of a group while it is blank, durably before it accepts a peer', async (t) => {
    const { gate, stale, epochFloor } = gateWith({ recoveryEpoch: 0 }, { isBlank: true })
    gate.onRefused('n2', 'stale_epoch')
    t.strictSame(stale, [], 'it only waits for a message')
    t.equal(gate.judge(claims), null)
    t.equal(epochFloor.epoch, 2)
    t.match(gate.peerStatus(), { recoveryEpoch: 2 })
    t.match(gate.judge({ ...claims, recoveryEpoch: 1 }), { code: 'stale_epoch' }, 'and never goes back')
  })

  t.test('feature_level_too_high: refuses a peer whose state its code cannot apply', async (t) => {
    const { gate } = gateWith()
    t.match(gate.judge({ ...claims, stateLevel: FEATURE_LEVEL + 1 }), {
      code: 'feature_level_too_high',
      message: /upgrade it/,
    })
    t.equal(gate.featureLevelOf('n2'), null)
  })

  t.test('judges no peer during log repair', async (t) => {
    const { gate, stale } = gateWith({}, { isRepairing: true })
    t.equal(gate.judge({ ...claims, recoveryEpoch: 9 }), null)
    t.strictSame(stale, [])
    t.strictSame(gate.peerStatus(), {
      boot: 9,
      before: [4, 7],
      recoveryEpoch: 0,
      featureLevel: 1,
      stateLevel: 1,
      clock: { wall: 0, majority: null },
    })
  })
})

t.test('a node', async (t) => {
  t.test('that was left behind by a recovery stops, and the others continue', async (t) => {
    const world = await NodeWorld.started()
    await world.run(world.append('n1', 'before'))
    await world.untilEqual()
    for (const nodeId of world.nodeIds) world.crash(nodeId)
    for (const nodeId of ['n1', 'n2']) world.host(nodeId).changeRecord({ recoveryEpoch: 1 })
    for (const nodeId of world.nodeIds) await world.start(nodeId)
    const why = await world.run(world.node('n3').failed)
    t.match(why, { name: 'StartError', code: 'stale_epoch' })
    t.equal(await world.run(world.append('n1', 'after')), 2)
    t.match(world.node('n3').readiness().reasons, [/has failed: This node was left behind/])
    await world.stopAll()
  })

  t.test('feature_level_too_high: does not start on a state that its code cannot apply', async (t) => {
    const world = await NodeWorld.started()
    await world.run(world.append('n1', 'before'))
    await world.untilEqual()
    world.crash('n3')
    world.host('n3').changeRecord({ featureLevel: FEATURE_LEVEL + 1 })
    await t.rejects(world.start('n3'), { name: 'StartError', code: 'feature_level_too_high' })
  })

  t.test('registers at every start, and knows the level of the others', async (t) => {
    const world = await NodeWorld.started()
    for (const nodeId of world.nodeIds) {
      await world.restart(nodeId)
      await world.untilReady()
      await world.untilRegistered()
    }
    for (const nodeId of world.nodeIds) t.match(world.node('n1').registered(nodeId), { boot: 2 })
    t.equal(world.metric('n1', 'peer_feature_level'), FEATURE_LEVEL)
    await world.stopAll()
  })

  t.test(
    'that runs on an older copy of its data directory is refused and counts for no majority',
    async (t) => {
      const world = await NodeWorld.started()
      const [old = '', other = ''] = world.followers
      const copy = world.host(old).backup()
      for (let i = 0; i < 3; i += 1) {
        await world.restart(old)
        await world.untilReady()
        await world.untilRegistered()
      }
      await world.run(world.append(other, 'acknowledged by the later process as well'))
      await world.untilEqual()
      const leader = world.leaderOrDie()
      world.crash(old)
      world.host(old).restore(copy)
      await world.start(old)
      const isReported = (): boolean => /older copy/.test(world.node(old).readiness().reasons.join())
      await world.clock.runUntil(isReported, { limitMs: 20_000 })
      world.crash(leader)
      await world.clock.advance(10_000)
      for (const nodeId of world.running) t.not(world.node(nodeId).status().role, 'leader')
      await world.start(leader)
      await world.clock.runUntil(() => world.leader !== null, { limitMs: 10_000 })
      t.not(world.leader, old)
      await world.run(world.append(leader, 'without it'))
      await world.stopAll()
    },
  )
})
