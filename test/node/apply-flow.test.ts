/**
 * A leader writes no faster than a majority of the voters applies.
 *
 * Rule: time is virtual; a slow state takes 400 ms for four entries, the load is twenty times as much.
 */
import t from 'tap'
import { loadOn } from '../helpers/node-load.ts'
import { NodeWorld } from '../helpers/node-world.ts'

const BACKLOG_MAX = 100
/** Plus the entries in flight between two heartbeats. */
const BOUND = 2 * BACKLOG_MAX
const SLOW_MS = 400

function started(): Promise<NodeWorld> {
  const limits = { voterBacklogEntriesMax: BACKLOG_MAX, applyEntriesMax: 4 }
  return NodeWorld.started({ node: { limits } })
}

function backlogOf(world: NodeWorld, nodeId: string): number {
  return world.node(world.leaderOrDie()).status().commitIndex - world.node(nodeId).status().appliedIndex
}

async function highestBacklog(world: NodeWorld, nodeId: string): Promise<number> {
  const load = loadOn(world, 5)
  let highest = 0
  for (let step = 0; step < 100; step += 1) {
    await world.clock.advance(100)
    highest = Math.max(highest, backlogOf(world, nodeId))
  }
  load.stop()
  return highest
}

async function ends(world: NodeWorld): Promise<void> {
  for (const nodeId of world.running) world.host(nodeId).applyMs = null
  await world.untilEqual()
  await world.stopAll()
}

t.test('waits for the faster follower when both are slow', async (t) => {
  const world = await started()
  const slow = world.followers
  for (const nodeId of slow) world.host(nodeId).applyMs = SLOW_MS
  t.ok((await highestBacklog(world, slow[0] ?? '')) <= BOUND)
  await ends(world)
})

t.test('waits for the only other live voter', async (t) => {
  const world = await started()
  const [slow = '', dead = ''] = world.followers
  world.crash(dead)
  world.host(slow).applyMs = SLOW_MS
  t.ok((await highestBacklog(world, slow)) <= BOUND)
  await ends(world)
})

t.test('does not wait for a voter that the majority does not need', async (t) => {
  const world = await started()
  const [slow = ''] = world.followers
  world.host(slow).applyMs = SLOW_MS
  t.ok((await highestBacklog(world, slow)) > 2 * BOUND)
  await ends(world)
})

t.test(
  'does not wait for a voter of an older version, which does not report its applied index',
  async (t) => {
    const world = await started()
    for (const nodeId of world.followers) {
      world.host(nodeId).applyMs = SLOW_MS
      world.host(nodeId).hidesApplied = true
    }
    t.ok((await highestBacklog(world, world.followers[0] ?? '')) > 2 * BOUND)
    await ends(world)
  },
)
