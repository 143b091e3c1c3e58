/**
 * Wall clocks that are hours apart: the time of the state is a matter of the log, not of whoever leads.
 */
import t from 'tap'
import { NodeWorld } from '../helpers/node-world.ts'

const HOUR_MS = 3_600_000

t.test('the time of the state', async (t) => {
  t.test('strictly rises by max(last + 1, stamp) over leaders whose clocks are hours apart', async (t) => {
    const wallSkewMs = { n1: 5 * HOUR_MS, n2: 0, n3: -3 * HOUR_MS }
    const world = await NodeWorld.started({ wallSkewMs })
    const leaders: string[] = []
    for (let i = 0; i < 12; i += 1) {
      const leader = world.leaderOrDie()
      leaders.push(leader)
      for (let j = 0; j < 5; j += 1) await world.run(world.append(leader, `${leader} ${i}.${j}`))
      await world.untilEqual()
      // Every other time by a hand-over, else by a power cut.
      if (i % 2 === 0) await world.stop(leader)
      else world.crash(leader)
      await world.clock.runUntil(() => world.leader !== null, { limitMs: 20_000 })
      await world.start(leader)
      await world.untilReady()
    }
    t.ok(new Set(leaders).size > 1, `led by ${leaders.join(', ')}`)
    await world.untilEqual()
    const times = (nodeId: string): readonly (readonly [number, number])[] =>
      world
        .seat(nodeId)
        .batches.flatMap(({ entries }) => entries.map(({ index, time }) => [index, time] as const))
    const all = new Map<number, number>()
    for (const nodeId of world.nodeIds) {
      for (const [index, time] of times(nodeId)) {
        t.equal(all.get(index) ?? time, time, `entry ${index} has one time`)
        all.set(index, time)
      }
    }
    const rising = [...all].sort(([a], [b]) => a - b).map(([, time]) => time)
    t.ok(rising.length >= 60)
    for (const [i, time] of rising.entries()) if (i > 0) t.ok(time > (rising[i - 1] ?? 0), `${time} is later`)
    const jumps = rising.filter((time, i) => i > 0 && time === (rising[i - 1] ?? 0) + 1).length
    t.ok(jumps > 0, 'a leader with an earlier clock goes on one by one')
    await world.stopAll()
  })
})
