/**
 * A disk that does not answer, is full, or is slower than the group: leadership moves, clients get an error, queues stay bounded.
 */
import t from 'tap'
import { DiskWatch } from '../../cluster/node/disk/disk-watch.ts'
import { DEFAULT_NODE_LIMITS } from '../../cluster/node/base/limits.ts'
import { Condition } from '../../cluster/base/types.ts'
import { type LogLine, recordingLogger } from '../helpers/loggers.ts'
import { ELECTION_TIMEOUT_MS, NodeWorld } from '../helpers/node-world.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'

async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise
    return 'none'
  } catch (error) {
    if (error instanceof Condition) return error.code
    throw error
  }
}

function watchWorld() {
  const clock = new VirtualClock()
  const lines: LogLine[] = []
  const seen = { offers: 0, dead: [] as string[] }
  const watch = new DiskWatch({
    clock,
    limits: DEFAULT_NODE_LIMITS,
    logger: recordingLogger(lines),
    electionTimeoutMs: 1_000,
    isScarce: () => false,
    isLeader: () => true,
    offerLead: () => (seen.offers += 1),
    handOver: () => (seen.offers += 1),
    onDead: (error) => seen.dead.push(error.message),
  })
  const tickFor = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 50) {
      await clock.advance(50)
      watch.onTick()
    }
  }
  return { clock, lines, seen, watch, tickFor }
}

t.test('DiskWatch', async (t) => {
  t.test(
    'reports a stall once, offers leadership each election time-out, and ends the stall when the disk answers',
    async (t) => {
      const { watch, seen, lines, tickFor } = watchWorld()
      watch.onAppend(1)
      watch.onAppend(2)
      await tickFor(500)
      t.strictSame([seen.offers, watch.stalls], [0, 0])
      await tickFor(50)
      t.strictSame([seen.offers, watch.stalls, watch.isStalled], [1, 1, true])
      await tickFor(2_500)
      t.strictSame([seen.offers, watch.stalls], [3, 1])
      watch.onDurable(1)
      t.ok(watch.isStalled, 'the other write is as old')
      watch.onDurable(2)
      t.notOk(watch.isStalled)
      await tickFor(5_000)
      t.equal(seen.offers, 3)
      t.strictSame(
        lines.map(({ level }) => level),
        ['warn', 'info'],
      )
      t.strictSame(seen.dead, [])
    },
  )

  t.test('treats a disk as dead that is silent for too long', async (t) => {
    const { watch, seen, tickFor } = watchWorld()
    watch.onAppend(1)
    await tickFor(10_000)
    t.strictSame(seen.dead, [])
    await tickFor(50)
    t.match(seen.dead, [/Disk stalled: a write of the log is not durable after 10050 ms/])
  })

  t.test('does not take a pause of the process for a stall of the disk', async (t) => {
    const { watch, seen, clock, tickFor } = watchWorld()
    watch.onAppend(1)
    await clock.advance(60_000)
    watch.onGap()
    await tickFor(500)
    t.strictSame([seen.dead, watch.stalls], [[], 0])
  })
})

t.test('a leader', async (t) => {
  t.test('whose disk stalls hands leadership over and stays in the group', async (t) => {
    const world = await NodeWorld.started()
    const slow = world.leaderOrDie()
    world.host(slow).flushMs = 2_000
    const reply = world.append(world.followers[0] ?? '', 'while it stalls')
    await world.clock.runUntil(() => world.metric(slow, 'log_stalls_total') > 0, { limitMs: 5_000 })
    const startedOne = world.clock.now()
    await world.clock.runUntil(() => world.leader !== slow, { limitMs: 10_000 })
    t.ok(world.clock.now() - startedOne < ELECTION_TIMEOUT_MS, 'without waiting for an election time-out')
    t.match(world.node(slow).readiness().reasons.join(), /does not answer/)
    await world.run(reply)
    world.host(slow).flushMs = null
    await world.clock.advance(2_500)
    await world.untilReady()
    await world.untilEqual()
    await world.stopAll()
  })

  t.test('whose disk is dead fails, and the others continue', async (t) => {
    const world = await NodeWorld.started()
    const slow = world.leaderOrDie()
    const [other = ''] = world.followers
    world.host(slow).flushMs = 1e9
    const reply = world.append(other, 'on a dead disk')
    t.match((await world.run(world.node(slow).failed)).message, /Disk stalled/)
    await world.run(reply)
    await world.stopAll()
  })

  t.test('disk_full: hands leadership over, takes nothing new and names the remedy', async (t) => {
    const world = await NodeWorld.started()
    const full = world.leaderOrDie()
    const [other = ''] = world.followers
    world.host(full).fillDisk()
    await world.clock.runUntil(() => world.leader !== full && world.leader !== null, { limitMs: 5_000 })
    await t.rejects(world.append(full, 'here'), { code: 'disk_full', message: /disk of this node is full/ })
    t.match(world.node(full).readiness().reasons.join(), /disk of the log and the state is full/)
    t.equal(world.metric(full, 'log_disk_full'), 1)
    t.equal(await world.run(world.append(other, 'elsewhere')), 1)
    await world.clock.runUntil(() => world.texts(full).length === 1, { limitMs: 5_000 })
    await world.stopAll()
  })

  t.test('disk_full: also refuses forwarded proposals when no other node can lead', async (t) => {
    const world = await NodeWorld.started()
    const [other = '', third = ''] = world.followers
    world.crash(third)
    const full = world.leaderOrDie()
    // The other node follows and acknowledges, and no TimeoutNow reaches it.
    const { transport } = world.process(full)
    const send = transport.send.bind(transport)
    transport.send = (message) => (message.type === 'TimeoutNow' ? undefined : send(message))
    world.host(full).fillDisk()
    t.equal(await world.run(codeOf(world.append(other, 'refused'))), 'disk_full')
    await world.stopAll()
  })

  for (const [what, limits] of [
    ['entries', { unappliedEntriesMax: 10 }],
    ['bytes', { unappliedBytesMax: 2_000 }],
  ] as const) {
    t.test(
      `slow_down: refuses proposals when its state is too far behind the log, counted in ${what}`,
      async (t) => {
        const world = await NodeWorld.started({ node: { limits } })
        await world.untilEqual()
        const leader = world.leaderOrDie()
        const [other = ''] = world.followers
        // Nor can the lead go to a node whose state is further.
        const { transport } = world.process(leader)
        const send = transport.send.bind(transport)
        transport.send = (message) => (message.type === 'TimeoutNow' ? undefined : send(message))
        world.host(leader).applyMs = 60_000
        let outcome = 'none'
        for (let i = 0; i < 100 && outcome === 'none'; i += 1)
          outcome = await world.run(codeOf(world.append(other, `text ${i} ${'x'.repeat(100)}`)))
        t.equal(outcome, 'slow_down')
        const { commitIndex, appliedIndex } = world.node(leader).status()
        t.ok(
          commitIndex - appliedIndex >= 10 && commitIndex - appliedIndex <= 16,
          `${commitIndex - appliedIndex}`,
        )
        world.host(leader).applyMs = null
        await world.clock.advance(60_000)
        await world.untilReady()
        await world.run(world.append(other, 'taken again'))
        await world.stopAll()
      },
    )
  }
})
