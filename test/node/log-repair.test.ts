/**
 * Nodes that come back damaged: with a lost or wrong state, or a log with holes. They fetch the missing parts from the others, and
 * until then they acknowledge nothing to any peer.
 */
import t, { type Test } from 'tap'
import { SNAPSHOT_METHODS } from '../../cluster/node/state/snapshot-calls.ts'
import { StateDamagedError } from '../../cluster/base/types.ts'
import { NodeWorld } from '../helpers/node-world.ts'

const keepLittle = { logKeepEntries: 8, logKeepBytes: 1024 * 1024 }

async function appendMany(world: NodeWorld, count: number, word = 'text'): Promise<void> {
  for (let i = 0; i < count; i += 1) await world.run(world.append(world.leaderOrDie(), `${word} ${i}`))
}

/** Where two logs have an entry of one term at one index, they are the same up to there. [thesis 3.5, Log Matching] */
function logsDisagree(world: NodeWorld): readonly string[] {
  const logs = world.nodeIds.map((nodeId) => {
    return new Map(world.disk(nodeId).image.content.entries.map(({ index, term }) => [index, term]))
  })
  return logs.flatMap((one) => logs.flatMap((other) => disagreement(one, other)))
}

function disagreement(
  one: ReadonlyMap<number, number>,
  other: ReadonlyMap<number, number>,
): readonly string[] {
  const common = [...one.keys()].filter((index) => other.has(index))
  const last = common.findLast((index) => one.get(index) === other.get(index)) ?? 0
  const wrong = common.filter((index) => index < last && one.get(index) !== other.get(index))
  return wrong.map((index) => `logs that agree at ${last} differ at ${index}`)
}

async function untilRepaired(t: Test, world: NodeWorld, nodeId: string): Promise<void> {
  await world.clock.runUntil(() => !world.node(nodeId).isRepairing, { limitMs: 60_000 })
  t.strictSame(logsDisagree(world), [])
}

async function untilEveryoneIsEqual(t: Test, world: NodeWorld): Promise<void> {
  await world.clock.runUntil(() => world.serving.length === world.running.length, { limitMs: 60_000 })
  await world.untilReady()
  await world.run(world.append(world.leaderOrDie(), 'after'))
  await world.untilEqual()
  const texts = world.texts(world.leaderOrDie())
  for (const nodeId of world.running) t.strictSame(world.texts(nodeId), texts)
}

/** A follower with `texts` in its log and only the first half of them in its state. */
async function withStateBehindLog(
  world: NodeWorld,
  texts: number,
): Promise<{ behind: string; applied: number }> {
  const [behind = ''] = world.followers
  await appendMany(world, texts / 2)
  await world.untilEqual()
  const applied = world.node(behind).appliedIndex
  const earlier = world.state(behind).copy()
  await appendMany(world, texts / 2)
  await world.untilEqual()
  world.crash(behind)
  world.host(behind).setStateBack(earlier)
  return { behind, applied }
}

t.test('a state', async (t) => {
  t.test('that was lost is taken from another node, and the promises in the log remain', async (t) => {
    const world = await NodeWorld.started({ node: keepLittle })
    await appendMany(world, 40)
    await world.untilEqual()
    const [lost = ''] = world.followers
    world.crash(lost)
    world.host(lost).loseState()
    const { hardState } = world.disk(lost).image.head
    await world.start(lost)
    t.match(world.node(lost).readiness(), { ready: false, reasons: [/state .* cannot be used/] })
    await world.clock.runUntil(() => world.texts(lost).length === 40, { limitMs: 10_000 })
    t.strictSame(world.disk(lost).image.head.hardState, hardState)
    await untilEveryoneIsEqual(t, world)
    await world.restart(lost)
    await untilEveryoneIsEqual(t, world)
    await world.stopAll()
  })

  t.test('with a damaged row is replaced, though the log reaches back to its beginning', async (t) => {
    const world = await NodeWorld.started()
    await appendMany(world, 20)
    await world.untilEqual()
    const leader = world.leaderOrDie()
    world.crash(leader)
    world.host(leader).damageState()
    await world.start(leader)
    t.ok(world.node(leader).isRepairing)
    await untilEveryoneIsEqual(t, world)
    await world.stopAll()
  })

  t.test('is waited for while no node has one, and requested at a bounded rate', async (t) => {
    const world = await NodeWorld.started({ node: keepLittle })
    await appendMany(world, 40)
    await world.untilEqual()
    const [lost = ''] = world.followers
    world.crash(lost)
    world.host(lost).loseState()
    world.network.isolate(lost)
    await world.start(lost)
    await world.clock.advance(120_000)
    t.ok(world.node(lost).isRepairing)
    world.network.heal()
    await untilEveryoneIsEqual(t, world)
    await world.stopAll()
  })

  t.test(
    'that is damaged while another failure stops the node is marked, and the next start repairs it',
    async (t) => {
      const world = await NodeWorld.started()
      await appendMany(world, 5)
      const [nodeId = ''] = world.followers
      const { node, machine } = world.process(nodeId)
      node.fail(new Error('another failure came first'))
      world.host(nodeId).damageState()
      world.state(nodeId).damage = 'a row read by the service'
      for (let i = 0; i < 2; i += 1) t.throws(() => machine.read(), StateDamagedError)
      t.match((await world.run(node.failed)).message, /came first/)
      await world.clock.advance(10)
      t.match(world.state(nodeId).quarantined, /a row read by the service/)
      await world.stop(nodeId)
      await world.start(nodeId)
      t.ok(world.node(nodeId).isRepairing)
      await untilEveryoneIsEqual(t, world)
      await world.stopAll()
    },
  )
})

t.test('a hole in the log', async (t) => {
  t.test('below the applied index needs no other node', async (t) => {
    const world = await NodeWorld.started()
    await appendMany(world, 20)
    await world.untilEqual()
    const [holed = ''] = world.followers
    const applied = world.node(holed).appliedIndex
    world.crash(holed)
    for (const index of [5, 6, applied]) world.host(holed).damageLog(index)
    world.network.isolate(holed)
    await world.start(holed)
    await world.clock.runUntil(() => !world.node(holed).isRepairing, { limitMs: 100 })
    t.equal(world.node(holed).status().base.index, applied)
    world.network.heal()
    await untilEveryoneIsEqual(t, world)
    await world.stopAll()
  })

  t.test('above the applied index is filled with committed entries of the others', async (t) => {
    const world = await NodeWorld.started()
    const { behind, applied } = await withStateBehindLog(world, 20)
    for (const [i, above] of [1, 2, 7].entries())
      world.host(behind).damageLog(applied + above, { keepTerm: i !== 1 })
    world.host(behind).damageLog(3)
    await world.start(behind)
    t.match(world.node(behind).readiness().reasons, [/waiting for other nodes to give entry 3 and 3 more/])
    await untilRepaired(t, world, behind)
    await untilEveryoneIsEqual(t, world)
    t.equal(world.metric(behind, 'snapshots_installed_total'), 0, 'no state was sent for it')
    await world.stopAll()
  })

  t.test('whose entry the others have compacted is filled by a newer state', async (t) => {
    const world = await NodeWorld.started({ node: keepLittle })
    const { behind, applied } = await withStateBehindLog(world, 12)
    await appendMany(world, 40)
    t.ok(world.node(world.leaderOrDie()).status().base.index > applied + 1)
    world.host(behind).damageLog(applied + 1)
    await world.start(behind)
    await untilEveryoneIsEqual(t, world)
    await world.stopAll()
  })

  t.test('that no node knows to be committed is filled by the same entry of another log', async (t) => {
    const world = await NodeWorld.started()
    await appendMany(world, 6)
    await world.untilEqual()
    const [behind = '', other = ''] = world.followers
    const third = world.leaderOrDie()
    const applied = world.node(behind).appliedIndex
    const earlier = world.state(behind).copy()
    await appendMany(world, 6)
    await world.untilEqual()
    for (const nodeId of world.nodeIds) world.crash(nodeId)
    for (const nodeId of [behind, other]) world.host(nodeId).setStateBack(earlier.copy())
    // Both have holes, and the third stays down: only intact entries of one close the hole of the other.
    world.host(behind).damageLog(applied + 2)
    world.host(other).damageLog(applied + 4)
    await world.start(behind)
    await world.start(other)
    await world.clock.runUntil(() => world.serving.length === 2, { limitMs: 60_000 })
    await world.clock.runUntil(() => world.leader !== null, { limitMs: 60_000 })
    t.strictSame(logsDisagree(world), [])
    await world.start(third)
    await untilEveryoneIsEqual(t, world)
    t.equal(world.texts(behind).filter((text) => text.startsWith('text')).length, 12)
    await world.stopAll()
  })

  t.test('at an entry that was never committed voids the entries after it', async (t) => {
    const world = await NodeWorld.started()
    await appendMany(world, 4)
    await world.untilEqual()
    const old = world.leaderOrDie()
    world.network.isolate(old)
    const before = world.node(old).status().lastIndex
    const unknown = ['x', 'y'].map((text) => world.append(old, text).catch(() => 0))
    await world.clock.runUntil(() => world.disk(old).image.head.last.index > before, { limitMs: 1_000 })
    world.crash(old)
    await Promise.all(unknown)
    world.network.heal()
    world.host(old).damageLog(before + 1, { keepTerm: false })
    await world.clock.runUntil(() => world.leader !== null && world.leader !== old, { limitMs: 10_000 })
    await world.start(old)
    await untilEveryoneIsEqual(t, world)
    t.strictSame(
      world.texts(old).filter((text) => text === 'x' || text === 'y'),
      [],
    )
    await world.stopAll()
  })

  t.test('beyond the commit index of an idle group is filled, because the group continues', async (t) => {
    // A full batch does not wait for the previous one.
    const world = await NodeWorld.started({ node: { limits: { batchProposalsMax: 1 } } })
    await world.untilEqual()
    const old = world.leaderOrDie()
    world.network.isolate(old)
    const before = world.node(old).status().lastIndex
    for (let i = 0; i < 6; i += 1) {
      void world.append(old, `lost ${i}`).catch(() => 0)
      await world.clock.advance(10)
    }
    const { last } = world.disk(old).image.head
    t.ok(last.index >= before + 4, 'a tail that no other node has')
    world.crash(old)
    world.network.heal()
    world.host(old).damageLog(last.index)
    await world.clock.runUntil(() => world.leader !== null && world.leader !== old, { limitMs: 10_000 })
    await world.untilEqual()
    await world.start(old)
    await untilRepaired(t, world, old)
    await untilEveryoneIsEqual(t, world)
    const kept = world.texts(old).filter((text) => text.startsWith('lost'))
    t.strictSame(kept, [])
    await world.stopAll()
  })
})

t.test('a node in log repair', async (t) => {
  t.test('answers nothing and counts for no majority until it is repaired', async (t) => {
    const world = await NodeWorld.started()
    const { behind, applied } = await withStateBehindLog(world, 8)
    const [other = '', third = ''] = world.nodeIds.filter((nodeId) => nodeId !== behind)
    world.crash(other)
    world.crash(third)
    // The other node's entries are committed, but it cannot know that by itself; and the node in repair must not help it to a majority.
    world.host(other).setStateBack(world.state(behind))
    world.host(behind).damageLog(applied + 2, { keepTerm: false })
    const { hardState } = world.disk(behind).image.head
    await world.start(other)
    await world.start(behind)
    await world.clock.advance(20_000)
    t.ok(world.node(behind).isRepairing)
    t.not(world.node(other).status().role, 'leader')
    t.strictSame(world.disk(behind).image.head.hardState, hardState)
    const { transport } = world.process(other)
    for (const method of [SNAPSHOT_METHODS.open, 'propose', 'state.checksums']) {
      const call = transport.call(behind, method, { header: null })
      await t.rejects(world.run(call), { name: 'PeerRefusedError', code: 'mending' }, method)
    }
    await t.rejects(world.append(behind, 'no'), { code: 'leader_not_ready', message: /repairs its log/ })
    await t.rejects(world.node(behind).readBarrier(), { code: 'leader_not_ready' })
    await world.start(third)
    await untilEveryoneIsEqual(t, world)
    await world.stopAll()
  })

  t.test('can be stopped', async (t) => {
    const world = await NodeWorld.started()
    await appendMany(world, 4)
    const [nodeId = ''] = world.followers
    world.crash(nodeId)
    world.host(nodeId).damageState()
    world.network.isolate(nodeId)
    const node = await world.start(nodeId)
    await world.clock.advance(2_000)
    await world.stop(nodeId)
    await t.rejects(node.propose(new Uint8Array(1)), { code: 'shutting_down' })
    t.equal(await Promise.race([node.failed, Promise.resolve('has not failed')]), 'has not failed')
    await world.stopAll()
  })

  t.test('cannot_mend: does not start where there is no other node', async (t) => {
    for (const damage of ['state', 'log'] as const) {
      const world = await NodeWorld.started({ nodeIds: ['n1'] })
      await appendMany(world, 2)
      const earlier = world.state('n1').copy()
      await appendMany(world, 2)
      const { lastIndex } = world.node('n1').status()
      world.crash('n1')
      if (damage === 'state') world.host('n1').damageState()
      else {
        world.host('n1').setStateBack(earlier)
        world.host('n1').damageLog(lastIndex)
      }
      await t.rejects(world.start('n1'), { name: 'StartError', code: 'cannot_mend', hint: /from a backup/ })
    }
  })
})
