/**
 * A disk that answers far later than those of the others: leadership moves once, and stays there.
 */
import t from 'tap'
import { NodeWorld } from '../helpers/node-world.ts'

const SLOW_MS = 200

/** Proposes one after the other through a node, until `count` are applied there. */
async function appends(world: NodeWorld, nodeId: string, count: number): Promise<void> {
  for (let n = 0; n < count; n++) await world.run(world.append(nodeId, `text ${n}`))
}

const changes = (world: NodeWorld, nodeId: string): number => world.metric(nodeId, 'leader_changes_total')

t.test('a leader', async (t) => {
  await t.test(
    'whose disk is slower than the group hands over, and does not get leadership back',
    async (t) => {
      const world = await NodeWorld.started()
      const slow = world.leaderOrDie()
      const [other = ''] = world.followers
      world.host(slow).flushMs = SLOW_MS
      await appends(world, other, 60)
      t.not(world.leader, slow)
      t.equal(world.metric(slow, 'log_slow_total'), 1)
      t.equal(world.metric(slow, 'log_stalls_total'), 0, 'it was never silent')
      const before = changes(world, other)
      const startedAt = world.clock.now()
      await appends(world, other, 300)
      const perAppendMs = (world.clock.now() - startedAt) / 300
      t.ok(perAppendMs < SLOW_MS / 4, `${perAppendMs} ms for each, at the speed of the others`)
      t.equal(changes(world, other), before, 'the lead stays')
      await world.clock.advance(5_000)
      await world.untilEqual()
      await world.stopAll()
    },
  )

  await t.test('keeps leadership where all disks are slow', async (t) => {
    const world = await NodeWorld.started()
    const leader = world.leaderOrDie()
    for (const nodeId of world.nodeIds) world.host(nodeId).flushMs = SLOW_MS
    await appends(world, world.followers[0] ?? '', 100)
    t.equal(world.leader, leader)
    t.equal(world.metric(leader, 'log_slow_total'), 0)
    await world.stopAll()
  })

  await t.test('keeps leadership while only a minority has quicker disks', async (t) => {
    const world = await NodeWorld.started()
    const leader = world.leaderOrDie()
    const [slow = ''] = world.followers
    for (const nodeId of [leader, slow]) world.host(nodeId).flushMs = SLOW_MS
    await appends(world, leader, 100)
    t.equal(world.leader, leader)
    await world.stopAll()
  })
})
