/**
 * A node that was down, or is new, catches up while writes continue.
 *
 * Rule: time is virtual, and the load writes more during a full pull of the state than the log keeps without a pin.
 */
import t from 'tap'
import { NodeWorld } from '../helpers/node-world.ts'
import { loadOn } from '../helpers/node-load.ts'

const KEEP = 40
const STATE_ROWS = 1_000
const PADDING = 'x'.repeat(100)
/** At most this far behind: the entries in flight at any moment. */
const LAG_MAX = 20

async function fill(world: NodeWorld, rows: number): Promise<void> {
  const group = 20
  for (let row = 0; row < rows; row += group) {
    const appends = Array.from({ length: group }, (_, i) =>
      world.append(world.leaderOrDie(), `t ${row + i} ${PADDING}`),
    )
    await world.run(Promise.all(appends))
  }
}

function lagOf(world: NodeWorld, nodeId: string): number {
  return world.node(world.leaderOrDie()).status().commitIndex - world.node(nodeId).status().appliedIndex
}

function untilCaughtUp(world: NodeWorld, nodeIds: readonly string[]): Promise<void> {
  const areClose = (): boolean =>
    nodeIds.every((nodeId) => !world.node(nodeId).isRepairing && lagOf(world, nodeId) <= LAG_MAX)
  return world.clock.runUntil(areClose, { limitMs: 10_000 })
}

async function filled(more: ConstructorParameters<typeof NodeWorld>[0] = {}): Promise<NodeWorld> {
  const limits = { logPinSilentMs: 500 }
  const world = await NodeWorld.started({ ...more, node: { logKeepEntries: KEEP, limits, ...more.node } })
  await fill(world, STATE_ROWS)
  await world.untilEqual()
  return world
}

/** Appends enough entries, one by one, that no earlier entry is kept. */
async function moveOn(world: NodeWorld): Promise<void> {
  for (let i = 0; i < 150; i += 1) await world.run(world.append(world.leaderOrDie(), 'while away'))
}

t.test('a node that was down needs one install at full write load', async (t) => {
  const world = await filled()
  const [away = ''] = world.followers
  world.crash(away)
  await moveOn(world)
  const load = loadOn(world, 2)
  await world.start(away)
  await world.clock.advance(200)
  await untilCaughtUp(world, [away])
  t.equal(world.metric(away, 'snapshots_installed_total'), 1)
  load.stop()
  await world.untilEqual()
  t.same(world.texts(away), world.texts(world.leaderOrDie()))
  await world.stopAll()
})

t.test('two nodes that were down catch up together', async (t) => {
  const world = await filled({ nodeIds: ['n1', 'n2', 'n3', 'n4', 'n5'] })
  const [one = '', two = ''] = world.followers
  world.crash(one)
  world.crash(two)
  await moveOn(world)
  const load = loadOn(world, 2)
  await world.start(one)
  await world.start(two)
  await world.clock.advance(200)
  await untilCaughtUp(world, [one, two])
  for (const nodeId of [one, two]) t.equal(world.metric(nodeId, 'snapshots_installed_total'), 1)
  load.stop()
  await world.untilEqual()
  await world.stopAll()
})

t.test('a new node joins at full write load', async (t) => {
  const world = await filled({ nodeIds: ['n1', 'n2', 'n3', 'n4'], voters: ['n1', 'n2', 'n3'] })
  const load = loadOn(world, 2)
  await world.start('n4')
  await world.run(world.changeConfiguration({ voters: world.voters, learners: ['n4'] }))
  await world.clock.advance(200)
  await untilCaughtUp(world, ['n4'])
  t.equal(world.metric('n4', 'snapshots_installed_total'), 1)
  load.stop()
  await world.untilEqual()
  t.same(world.texts('n4'), world.texts(world.leaderOrDie()))
  await world.stopAll()
})

t.test('the log grows for a node up to its disk limit, then the node needs another snapshot', async (t) => {
  const world = await filled({ node: { logPinBytes: 1 } })
  const [away = ''] = world.followers
  world.crash(away)
  await moveOn(world)
  const load = loadOn(world, 2)
  await world.start(away)
  const isInstalledAgain = (): boolean => world.metric(away, 'snapshots_installed_total') > 1
  await world.clock.runUntil(isInstalledAgain, { limitMs: 10_000 })
  const leader = world.node(world.leaderOrDie()).status()
  t.ok(leader.commitIndex - leader.base.index < 3 * KEEP, 'disk is bounded')
  load.stop()
  await world.untilEqual()
  await world.stopAll()
})
