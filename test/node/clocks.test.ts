/**
 * Wrong wall clocks: the time of the log is that of a majority's clocks, under any leader.
 */
import t, { type Test } from 'tap'
import { TIME_STEP_MAX_MS } from '../../cluster/node/base/log-time.ts'
import { command } from '../helpers/memory-state-machine.ts'
import { NodeWorld } from '../helpers/node-world.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** cluster.clock_skew_max */
const TOLERANCE_MS = 5_000

interface Applied {
  readonly index: number
  readonly time: number
  readonly confirmedTime: number
}

/** The times with which each entry was applied: the same at every node. */
function timesOf(t: Test, world: NodeWorld): readonly Applied[] {
  const all = new Map<number, Applied>()
  for (const nodeId of world.nodeIds)
    for (const { entries } of world.host(nodeId).batches)
      for (const { index, time, confirmedTime } of entries) {
        const known = all.get(index) ?? { index, time, confirmedTime }
        t.same({ index, time, confirmedTime }, known, `entry ${index} has one time`)
        all.set(index, known)
      }
  return [...all.values()].sort((a, b) => a.index - b.index)
}

async function appendAll(world: NodeWorld, count: number, offsets: number[] = []): Promise<void> {
  for (let i = 0; i < count; i++) {
    const leader = world.leaderOrDie()
    await world.run(world.append(leader, `${leader} ${i}`))
    const time = world.host(leader).batches.at(-1)?.entries.at(-1)?.time ?? 0
    offsets.push(time - world.clock.wallTime())
  }
}

t.test('the time of the log', async (t) => {
  for (const [words, skew] of [
    ['two hours ahead', 2 * HOUR_MS],
    ['eight days ahead', 8 * DAY_MS],
    ['four hundred days ahead', 400 * DAY_MS],
    ['four hundred days behind', -400 * DAY_MS],
  ] as const) {
    t.test(`is right while the clock of the leader is ${words}, and after it`, async (t) => {
      const world = await NodeWorld.started()
      const leader = world.leaderOrDie()
      const offsets: number[] = []
      await appendAll(world, 3)
      world.wallSkewMs.set(leader, skew)
      await appendAll(world, 20, offsets)
      await world.clock.advance(4_000)
      world.wallSkewMs.delete(leader)
      await appendAll(world, 5, offsets)
      for (const offset of offsets) t.ok(Math.abs(offset) <= TOLERANCE_MS, `${offset} ms from true time`)
      await world.stopAll()
    })
  }

  t.test('never goes back across leaders whose clocks differ, and is the median', async (t) => {
    const world = await NodeWorld.started()
    world.wallSkewMs.set('n1', 5 * HOUR_MS)
    world.wallSkewMs.set('n3', -3 * HOUR_MS)
    const offsets: number[] = []
    for (let i = 0; i < 12; i += 1) {
      const leader = world.leaderOrDie()
      await appendAll(world, 5, offsets)
      if (i % 2 === 0) await world.stop(leader)
      else world.crash(leader)
      await world.clock.runUntil(() => world.leader !== null, { limitMs: 20_000 })
      await world.start(leader)
      await world.clock.runUntil(() => world.leader !== null && world.serving.length === 3, {
        limitMs: 20_000,
      })
    }
    await world.untilEqual()
    const rising = timesOf(t, world).map(({ time }) => time)
    t.ok(rising.length >= 60)
    for (const [i, time] of rising.entries()) t.ok(time >= (rising[i - 1] ?? 0), `${time} is not earlier`)
    for (const offset of offsets) t.ok(offset <= TOLERANCE_MS, `${offset} ms ahead of true time`)
    await world.stopAll()
  })

  t.test('is confirmed after a long weekend without power', async (t) => {
    const world = await NodeWorld.started()
    await appendAll(world, 2)
    await world.stopAll()
    await world.clock.advance(TIME_STEP_MAX_MS - HOUR_MS)
    for (const nodeId of world.nodeIds) await world.start(nodeId)
    await world.untilReady()
    await appendAll(world, 2)
    for (const { time, confirmedTime } of timesOf(t, world)) t.equal(confirmedTime, time)
    await world.stopAll()
  })

  t.test('is stamped hourly by an idle leader', async (t) => {
    const world = await NodeWorld.started()
    const leader = world.leaderOrDie()
    const before = world.node(leader).status().commitIndex
    for (let hours = 1; hours <= 5; hours++) {
      // As if an hour had passed: the stamp depends on the distance of the majority's time to that of the log.
      for (const nodeId of world.nodeIds) world.wallSkewMs.set(nodeId, hours * HOUR_MS)
      await world.clock.advance(8_000)
      const { logTime } = world.node(leader).time.status()
      t.ok(world.clock.wallTime() + hours * HOUR_MS - logTime <= 10_000)
    }
    t.ok(world.node(leader).status().commitIndex - before <= 6, 'one an hour, and the raise of the level')
    await world.stopAll()
  })

  t.test('is withheld from irreversible expiry when all clocks jump', async (t) => {
    const world = await NodeWorld.started()
    await appendAll(world, 2)
    for (const nodeId of world.nodeIds) world.wallSkewMs.set(nodeId, 400 * DAY_MS)
    await world.clock.advance(2_000)
    await appendAll(world, 3)
    const last = timesOf(t, world).at(-1)
    t.ok(Math.abs((last?.time ?? 0) - world.clock.wallTime() - 400 * DAY_MS) <= TOLERANCE_MS)
    t.ok(Math.abs((last?.confirmedTime ?? 0) - world.clock.wallTime()) <= TOLERANCE_MS)
    await world.stopAll()
  })
})

t.test('a correction of the time', async (t) => {
  t.test('confirms a true jump, and all nodes continue with equal times', async (t) => {
    const world = await NodeWorld.started()
    await appendAll(world, 2)
    for (const nodeId of world.nodeIds) world.wallSkewMs.set(nodeId, 20 * DAY_MS)
    await world.clock.advance(2_000)
    await appendAll(world, 1)
    const [follower = ''] = world.followers
    const { logTime, confirmedTime } = world.node(world.leaderOrDie()).time.status()
    t.ok(logTime - confirmedTime >= 19 * DAY_MS)
    const correction = { kind: 'confirm', withheldMs: logTime - confirmedTime } as const
    await world.run(world.node(follower).propose(command('append confirmed'), { correction }))
    await world.untilEqual()
    const last = timesOf(t, world).at(-1)
    t.equal(last?.confirmedTime, last?.time)
    await world.stopAll()
  })

  t.test('sets back a log that has run ahead, also across a restart', async (t) => {
    const world = await NodeWorld.started()
    for (const nodeId of world.nodeIds) world.wallSkewMs.set(nodeId, 800 * DAY_MS)
    await world.clock.advance(2_000)
    await appendAll(world, 2)
    for (const nodeId of world.nodeIds) world.wallSkewMs.set(nodeId, 0)
    await world.clock.advance(3_000)
    await appendAll(world, 2)
    const [follower = ''] = world.followers
    const { logTime, majorityTime } = world.node(follower).time.status()
    t.ok(logTime - world.clock.wallTime() > 799 * DAY_MS, 'it stays there without a correction')
    t.ok(Math.abs((majorityTime ?? 0) - world.clock.wallTime()) <= TOLERANCE_MS)
    const correction = { kind: 'setBack', seenTime: majorityTime ?? 0 } as const
    await world.run(world.node(follower).propose(command('append set back'), { correction }))
    await world.untilEqual()
    for (const nodeId of world.nodeIds) await world.restart(nodeId)
    await world.untilReady()
    const offsets: number[] = []
    await appendAll(world, 3, offsets)
    await world.untilEqual()
    for (const offset of offsets) t.ok(Math.abs(offset) <= TOLERANCE_MS, `${offset} ms from true time`)
    const { orderTime = 0 } = world.host(follower).batches.at(-1)?.entries.at(-1) ?? {}
    t.ok(orderTime >= logTime, 'ids keep ascending')
    await world.stopAll()
  })
})

/** It knows the leader, so only its clock can keep it from being ready. */
function isSettled(world: NodeWorld, nodeId: string): boolean {
  const { ready, reasons, clockSkewMs } = world.node(nodeId).readiness()
  return ready || (clockSkewMs !== undefined && reasons.length === 1)
}

t.test('clock_skew: a node whose clock is wrong', async (t) => {
  t.test(
    'hands over, is not ready and reports direction and distance, until its clock is right',
    async (t) => {
      const world = await NodeWorld.started()
      const leader = world.leaderOrDie()
      world.wallSkewMs.set(leader, 2 * HOUR_MS)
      await world.clock.runUntil(() => world.leader !== null && world.leader !== leader, { limitMs: 20_000 })
      await world.clock.runUntil(() => world.serving.every((nodeId) => isSettled(world, nodeId)), {
        limitMs: 20_000,
      })
      const { reasons, clockSkewMs = 0 } = world.node(leader).readiness()
      t.match(reasons, [/clock of node n\d is 7[12]\d\d\.\d s ahead of that of the majority.*clock_skew/])
      t.ok(Math.abs(clockSkewMs - 2 * HOUR_MS) <= TOLERANCE_MS)
      for (const other of world.followers.filter((nodeId) => nodeId !== leader))
        t.ok(world.node(other).readiness().ready)
      t.ok(
        Math.abs(world.node(leader).time.now() - world.clock.wallTime()) <= TOLERANCE_MS,
        'it knows the hour',
      )
      world.wallSkewMs.set(leader, 0)
      await world.untilReady()
      await world.stopAll()
    },
  )

  t.test('is detected at a follower whose clock is behind', async (t) => {
    const world = await NodeWorld.started()
    const [follower = ''] = world.followers
    world.wallSkewMs.set(follower, -30 * DAY_MS)
    await world.clock.runUntil(() => !world.node(follower).readiness().ready, { limitMs: 20_000 })
    t.match(world.node(follower).readiness().reasons, [/behind that of the majority/])
    t.equal(world.node(world.leaderOrDie()).readiness().ready, true)
    await world.stopAll()
  })

  t.test('leads where no other node can, and the time stays right', async (t) => {
    const world = await NodeWorld.started()
    const leader = world.leaderOrDie()
    const others = world.followers
    world.wallSkewMs.set(others[0] ?? '', 2 * HOUR_MS)
    world.wallSkewMs.set(others[1] ?? '', -2 * HOUR_MS)
    await world.clock.advance(10_000)
    t.equal(world.leader, leader)
    world.crash(leader)
    await world.clock.runUntil(() => world.leader !== null && world.leader !== leader, { limitMs: 20_000 })
    const offsets: number[] = []
    await appendAll(world, 3, offsets)
    for (const offset of offsets) t.ok(offset <= TOLERANCE_MS)
    await world.stopAll()
  })
})
