/**
 * Disks that hold less than they acknowledged, together with lagging nodes: the group waits and loses nothing.
 */
import t from 'tap'
import { NodeWorld } from '../helpers/node-world.ts'

/** Longer than any election takes. ms */
const LONG_MS = 30_000

async function worldAtLevel3(nodeIds?: readonly string[]): Promise<NodeWorld> {
  const world = await NodeWorld.started(nodeIds === undefined ? {} : { nodeIds })
  for (const nodeId of world.nodeIds) await world.run(world.node(nodeId).reachesLevel(3, LONG_MS))
  // The entry is durable a moment later.
  await world.clock.advance(1_000)
  return world
}

/** The third node lags; ten texts are acknowledged by the other two; then both are down. */
async function tenAcknowledgedByTwo(world: NodeWorld) {
  const leader = world.leaderOrDie()
  const [second = '', third = ''] = world.followers
  world.crash(third)
  const before = world.host(second).backup()
  for (let i = 0; i < 10; i += 1) await world.run(world.append(leader, `text ${i}`))
  await world.clock.advance(1_000)
  world.crash(leader)
  world.crash(second)
  return { leader, second, third, before }
}

t.test('a node whose directory is an older copy, beside one that lags', async (t) => {
  for (const trust of ['suspect', 'rolledBack'] as const) {
    t.test(`waits for the node with the full log, and nothing is lost (${trust})`, async (t) => {
      const world = await worldAtLevel3()
      const { leader, second, third, before } = await tenAcknowledgedByTwo(world)
      const host = world.host(second)
      host.restore(before)
      host.proof.trust = trust
      await world.start(second)
      await world.start(third)
      await world.clock.advance(LONG_MS)
      t.notOk(world.leader, 'two of three are no quorum')
      t.match(world.node(second).readiness(), { ready: false, reasons: [/disk_not_proved_current/] })
      await world.start(leader)
      await world.untilReady()
      await world.untilEqual()
      for (const nodeId of world.nodeIds) t.equal(world.texts(nodeId).length, 10, `all are at ${nodeId}`)
      t.equal(host.proof.trust, 'proved', 'it caught up, and is trusted again')
      world.crash(leader)
      await world.untilReady()
      await world.stopAll()
    })
  }

  t.test('does not hold up the others when they are a majority', async (t) => {
    const world = await worldAtLevel3()
    const [second = ''] = world.followers
    const before = world.host(second).backup()
    for (let i = 0; i < 10; i += 1) await world.run(world.append(world.leaderOrDie(), `text ${i}`))
    world.crash(second)
    world.host(second).restore(before)
    world.host(second).proof.trust = 'rolledBack'
    await world.run(world.append(world.leaderOrDie(), 'meanwhile'))
    await world.start(second)
    await world.untilReady()
    await world.untilEqual()
    t.equal(world.texts(second).length, 11)
    await world.stopAll()
  })
})

t.test('nodes that all lost power', async (t) => {
  t.test('serve again when all are back, and not before', async (t) => {
    const world = await worldAtLevel3()
    for (const nodeId of world.nodeIds) {
      world.crash(nodeId)
      world.host(nodeId).proof.trust = 'suspect'
    }
    await world.start('n1')
    await world.start('n2')
    await world.clock.advance(LONG_MS)
    t.notOk(world.leader, 'one of the two may have lost entries that the third has')
    t.match(world.node('n1').readiness().reasons, [/disk of n1, n2|disk of n1/])
    await world.start('n3')
    await world.untilReady()
    await world.run(world.append('n1', 'again'))
    await world.stopAll()
  })

  t.test('of five serve with four', async (t) => {
    const world = await worldAtLevel3(['n1', 'n2', 'n3', 'n4', 'n5'])
    for (const nodeId of world.nodeIds) {
      world.crash(nodeId)
      world.host(nodeId).proof.trust = 'suspect'
    }
    for (const nodeId of ['n1', 'n2', 'n3']) await world.start(nodeId)
    await world.clock.advance(LONG_MS)
    t.notOk(world.leader)
    await world.start('n4')
    await world.run(world.append('n4', 'again'))
    await world.stopAll()
  })
})

t.test('a log that ends before the state beside it', async (t) => {
  t.test('has lost flushed entries: the node gives no vote until it has caught up', async (t) => {
    const world = await worldAtLevel3()
    const { leader, second, third, before } = await tenAcknowledgedByTwo(world)
    const host = world.host(second)
    host.cutLog(before)
    await world.start(second)
    t.equal(host.proof.trust, 'rolledBack')
    await world.start(third)
    await world.clock.advance(LONG_MS)
    t.notOk(world.leader)
    await world.start(leader)
    await world.untilReady()
    await world.untilEqual()
    for (const nodeId of world.nodeIds) t.equal(world.texts(nodeId).length, 10)
    await world.stopAll()
  })
})
