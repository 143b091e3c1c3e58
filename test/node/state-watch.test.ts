/**
 * A leader whose state takes nothing while others apply: the lead goes to one of them, and only then.
 */
import t from 'tap'
import { StateWatch } from '../../cluster/node/state/state-watch.ts'
import { SILENT } from '../helpers/loggers.ts'
import { ELECTION_TIMEOUT_MS, NodeWorld } from '../helpers/node-world.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'

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

/** A leader with entries that wait, and a voter that is ahead of it. */
function watched() {
  const clock = new VirtualClock()
  const state = { applied: 10 }
  const offered: string[] = []
  const watch = new StateWatch({
    clock,
    logger: SILENT,
    electionTimeoutMs: ELECTION_TIMEOUT_MS,
    isLeader: () => true,
    appliedIndex: () => state.applied,
    commitIndex: () => 100,
    others: () => [{ nodeId: 'n2', applied: 50 }],
    offerLead: (target) => offered.push(target),
  })
  watch.onTick('tick')
  const pass = async (kind: 'tick' | 'tickGap', ms: number): Promise<void> => {
    await clock.advance(ms)
    watch.onTick(kind)
  }
  return { state, offered, pass }
}

t.test('the watch', async (t) => {
  t.test('offers the lead once for each election time-out', async (t) => {
    const { offered, pass } = watched()
    for (let ms = 0; ms < 2 * ELECTION_TIMEOUT_MS; ms += ELECTION_TIMEOUT_MS / 10)
      await pass('tick', ELECTION_TIMEOUT_MS / 10)
    t.strictSame(offered, ['n2', 'n2'])
  })

  t.test('begins to count again after a pause of the process', async (t) => {
    const { offered, pass } = watched()
    await pass('tickGap', 10 * ELECTION_TIMEOUT_MS)
    await pass('tick', ELECTION_TIMEOUT_MS - 1)
    t.strictSame(offered, [])
    await pass('tick', 1)
    t.strictSame(offered, ['n2'])
  })

  t.test('takes a state that applies one entry in each election time-out for a slow one', async (t) => {
    const { state, offered, pass } = watched()
    for (let index = 11; index < 20; index += 1) {
      state.applied = index
      await pass('tick', ELECTION_TIMEOUT_MS)
    }
    t.strictSame(offered, [])
  })
})
