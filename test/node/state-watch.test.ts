/**
 * A leader whose state takes nothing while others apply: the lead goes to one of them, and only then.
 */
import t from 'tap'
import { ELECTION_TIMEOUT_MS, NodeWorld } from '../helpers/node-world.ts'

/** So slow that nothing is applied during a test. */
const NEVER_MS = 3_600_000

t.test('a leader', async (t) => {
  t.test('whose state takes nothing while others apply offers the lead to one of them', async (t) => {
    const world = await NodeWorld.started()
    const stuck = world.leaderOrDie()
    const [other = ''] = world.followers
    world.host(stuck).applyMs = NEVER_MS
    await world.run(world.append(other, 'first'))
    await world.run(world.append(other, 'second'))
    t.equal(world.leader, stuck, 'entries have waited for less than an election time-out')
    await world.clock.advance(2 * ELECTION_TIMEOUT_MS)
    t.not(world.leader, stuck)
    t.equal(world.metric(stuck, 'state_stalled_total'), 1)
    t.equal(world.metric(stuck, 'is_leader'), 0)
    await world.run(world.append(other, 'third'))
    t.equal(world.texts(other).at(-1), 'third')
    await world.stopAll()
  })

  t.test('keeps the lead where no state is further', async (t) => {
    const world = await NodeWorld.started()
    const leader = world.leaderOrDie()
    await world.untilEqual()
    for (const nodeId of world.nodeIds) world.host(nodeId).applyMs = NEVER_MS
    const stuck = world.append(leader, 'stuck everywhere').catch(() => null)
    await world.clock.advance(8 * ELECTION_TIMEOUT_MS)
    t.equal(world.leader, leader)
    t.ok(world.metric(leader, 'commit_index') > world.metric(leader, 'applied_index'), 'an entry waits')
    t.equal(world.metric(leader, 'state_stalled_total'), 0)
    await world.stopAll()
    await stuck
  })
})
