/**
 * Disks that are full on all nodes at once: new data is refused, commands that free space are accepted, and no restart is needed.
 */
import t from 'tap'
import {
  missingReserve,
  type RoomView,
  RoomWatch,
  type RoomWatchParts,
} from '../../cluster/node/base/room-watch.ts'
import { DISK_THRESHOLDS } from '../../cluster/base/disk-level.ts'
import { Condition, type RoomNeed } from '../../cluster/base/types.ts'
import { recordingLogger } from '../helpers/loggers.ts'
import { DISK_BYTES } from '../helpers/node-host.ts'
import { NodeWorld } from '../helpers/node-world.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'

async function outcome(world: NodeWorld, nodeId: string, need: RoomNeed): Promise<string> {
  try {
    await world.run(world.node(nodeId).propose(Buffer.from(`${need} at ${nodeId}`), { need }))
    return 'taken'
  } catch (error) {
    if (error instanceof Condition) return error.code
    throw error
  }
}

/** Long enough that every node has checked its disk. */
async function filled(world: NodeWorld, nodeIds: readonly string[], used: number): Promise<void> {
  for (const nodeId of nodeIds) world.host(nodeId).freeBytes = (1 - used) * DISK_BYTES
  await world.clock.advance(1_500)
}

async function outcomes(world: NodeWorld, need: RoomNeed): Promise<readonly string[]> {
  const found: string[] = []
  for (const nodeId of world.nodeIds) found.push(await outcome(world, nodeId, need))
  return found
}

const ALL_TAKEN = ['taken', 'taken', 'taken']
const ALL_REFUSED = ['disk_full', 'disk_full', 'disk_full']

t.test('a group whose disks are all full', async (t) => {
  await t.test(
    'refuses commands that store more at every node, and accepts commands that free space through every node',
    async (t) => {
      const world = await NodeWorld.started()
      await filled(world, world.nodeIds, 0.96)
      t.same(await outcomes(world, 'growth'), ALL_REFUSED)
      t.same(await outcomes(world, 'upkeep'), ALL_TAKEN)
      t.same(await outcomes(world, 'relief'), ALL_TAKEN)
      await filled(world, world.nodeIds, 0.99)
      t.same(await outcomes(world, 'growth'), ALL_REFUSED)
      t.same(await outcomes(world, 'upkeep'), ALL_REFUSED, 'the last space is for commands that free some')
      t.same(await outcomes(world, 'relief'), ALL_TAKEN)
      await world.stopAll()
    },
  )

  await t.test(
    'keeps its leader, stays ready, and stores again without a restart when there is space',
    async (t) => {
      const world = await NodeWorld.started()
      const leader = world.leaderOrDie()
      const term = world.metric(leader, 'term')
      await filled(world, world.nodeIds, 1)
      for (const nodeId of world.nodeIds) world.host(nodeId).fillDisk()
      await world.clock.advance(30_000)
      t.equal(world.leader, leader, 'no other node would do better')
      t.equal(world.metric(leader, 'term'), term, 'and none has led meanwhile')
      for (const nodeId of world.nodeIds) t.same(world.node(nodeId).readiness().reasons, [], nodeId)
      t.same(await outcomes(world, 'growth'), ALL_REFUSED)
      t.same(await outcomes(world, 'relief'), ALL_TAKEN)
      await filled(world, world.nodeIds, 0.5)
      await world.clock.advance(1_500)
      for (const nodeId of world.nodeIds) t.equal(world.metric(nodeId, 'log_disk_full'), 0, nodeId)
      t.same(await outcomes(world, 'growth'), ALL_TAKEN)
      await world.stopAll()
    },
  )

  await t.test('also stores nothing new when one of three has space', async (t) => {
    const world = await NodeWorld.started()
    const [one = '', ...others] = world.nodeIds
    await filled(world, others, 0.96)
    t.same(await outcomes(world, 'growth'), ALL_REFUSED)
    t.same(world.node(one).readiness().reasons, [])
    await world.stopAll()
  })
})

t.test('a leader with the only full disk', async (t) => {
  await t.test('hands over to a node with space, and the others continue', async (t) => {
    const world = await NodeWorld.started()
    const full = world.leaderOrDie()
    await filled(world, [full], 0.96)
    await world.clock.runUntil(() => world.leader !== full && world.leader !== null, { limitMs: 5_000 })
    t.match(world.node(full).readiness().reasons.join(), /disk of the log and the state is full/)
    for (const nodeId of world.nodeIds)
      t.equal(await outcome(world, nodeId, 'growth'), nodeId === full ? 'disk_full' : 'taken', nodeId)
    t.equal(await outcome(world, full, 'relief'), 'taken')
    await world.stopAll()
  })
})

t.test('RoomWatch', async (t) => {
  const reserve = {
    bytes: 64,
    isHeld: () => held,
    refill: () => void calls.push('refill'),
    release: () => void calls.push('release'),
  }
  let held = true
  let calls: string[] = []

  await t.test('counts a released reserve as used, on a disk that is large enough for one', async (t) => {
    held = false
    t.equal(missingReserve(reserve, 512), 64)
    t.equal(missingReserve(reserve, 511), 0)
    held = true
    t.equal(missingReserve(reserve, 512), 0)
    t.equal(missingReserve(undefined, 512), 0)
  })

  await t.test(
    'is judged by free bytes on a large disk: the last half of them is for what frees space',
    async (t) => {
      const GIB = 1024 ** 3
      const clock = new VirtualClock()
      let freeBytes = 0
      const watch = watchOf(clock, async () => ({ totalBytes: 4000 * GIB, freeBytes }))
      for (const [gib, level] of [
        [15, 'open'],
        [14, 'scarce'],
        [8, 'scarce'],
        [7, 'last'],
      ] as const) {
        freeBytes = gib * GIB
        await clock.advance(500)
        watch.onTick()
        await clock.settle()
        t.equal(watch.level, level, `${gib} of 4000 GiB are free`)
      }
    },
  )

  await t.test('looks at a disk no later than even the fastest one could be scarce', async (t) => {
    const GIB = 1024 ** 3
    const clock = new VirtualClock()
    let looks = 0
    let freeBytes = 1000 * GIB
    const watch = watchOf(clock, async () => {
      looks += 1
      return { totalBytes: 4000 * GIB, freeBytes }
    })
    const looksIn = async (ms: number): Promise<number> => {
      const before = looks
      for (let passed = 0; passed < ms; passed += 100) {
        watch.onTick()
        await clock.advance(100)
        await clock.settle()
      }
      return looks - before
    }
    t.equal(await looksIn(20_000), 5, 'far from it: every four seconds')
    freeBytes = 19 * GIB
    await looksIn(4_000)
    t.equal(await looksIn(15_000), 10, 'four GiB before it: within a second and a half')
    freeBytes = 15 * GIB
    await looksIn(4_000)
    t.equal(await looksIn(5_000), 10, 'at it: twice a second')
  })

  await t.test(
    'releases the reserve before other writers find no space, and restores it only with ample space',
    async (t) => {
      const clock = new VirtualClock()
      const MIB = 1024 ** 2
      let freeBytes = 1024 * MIB
      let isSpent = false
      const watch = watchOf(clock, async () => ({ totalBytes: 1024 * MIB, freeBytes }), {
        wal: { reserve: { ...reserve, bytes: 64 * MIB } },
        isReserveSpent: () => isSpent,
        onReserveBack: () => (isSpent = false),
        offerLead: () => calls.push('offer'),
      })
      const look = async (): Promise<readonly string[]> => {
        calls = []
        await clock.advance(1_000)
        watch.onTick()
        await clock.settle()
        return calls
      }
      t.same(await look(), [])
      freeBytes = 16 * MIB
      t.same(await look(), [], 'scarce, and enough for the writes in flight')
      t.equal(watch.level, 'last')
      freeBytes -= 1
      t.same(await look(), [], 'another writer is filling the disk, and would take the reserve as well')
      t.same(await look(), ['release'])
      isSpent = true
      held = false
      freeBytes = 80 * MIB
      t.same(await look(), [], 'all free space belongs to the reserve')
      freeBytes = 400 * MIB
      t.same(await look(), ['refill'])
      t.equal(watch.level, 'scarce', 'until the reserve is complete')
      held = true
      t.same(await look(), [])
      t.equal(watch.level, 'open')
    },
  )
})

/** Of the only voter of a group. */
function watchOf(
  clock: VirtualClock,
  usage: RoomView['usage'],
  more: Partial<RoomWatchParts> = {},
): RoomWatch {
  return new RoomWatch({
    clock,
    logger: recordingLogger([]),
    room: { usage, scarceFrom: DISK_THRESHOLDS.reserve, isScarceAt: () => false },
    wal: {},
    isReserveSpent: () => false,
    onReserveBack: () => undefined,
    offerLead: () => undefined,
    voters: () => ['n1'],
    self: 'n1',
    ...more,
  })
}
