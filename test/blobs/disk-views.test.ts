/**
 * Where new copies go when disks are full or fail, over a network on a virtual clock.
 */
import t, { type Test } from 'tap'
import { readDiskView } from '../../cluster/blobs/base/blob-calls.ts'
import type { DiskView } from '../../cluster/base/disk-level.ts'
import { DiskRounds } from '../../cluster/blobs/peers/disk-rounds.ts'
import { DiskViews } from '../../cluster/blobs/peers/disk-views.ts'
import { SILENT } from '../helpers/loggers.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'
import { BlobCluster } from './blob-cluster.ts'
import { refOf, type SampleBlob, sampleBlob } from './blob-samples.ts'

const BELIEVED_MS = 10_000
const OPEN: DiskView = { level: 'open', isSuspect: false }

t.test('DiskViews', async (t) => {
  const clock = new VirtualClock()
  const views = new DiskViews({ clock, believedMs: BELIEVED_MS })

  t.test('keeps the latest answer of a node, and its refusal, for a bounded time', async (t) => {
    t.equal(views.placementStatusOf('a'), 'willing', 'nothing is known about it')
    for (const [level, isSuspect, status] of [
      ['open', false, 'willing'],
      ['stopPlacing', false, 'sparing'],
      ['stopWriting', false, 'unfit'],
      ['reserve', false, 'unfit'],
      ['stopPlacing', true, 'unfit'],
    ] as const) {
      views.note('a', { level, isSuspect })
      t.equal(views.placementStatusOf('a'), status, `${level}, suspect: ${isSuspect}`)
    }
    t.notOk(views.isFull('a'), 'a suspect disk has space')
    views.refused('a')
    t.ok(views.isFull('a') && views.isSuspect('a'), 'a refusal does not clear the suspicion')
    await clock.advance(BELIEVED_MS - 1)
    t.ok(views.isFull('a'))
    await clock.advance(1)
    t.equal(views.placementStatusOf('a'), 'willing', 'no answer for too long')
    views.refused('a')
    views.note('a', OPEN)
    t.equal(views.placementStatusOf('a'), 'willing', 'its own answer overrides an older refusal')
  })
})

t.test('DiskRounds', async (t) => {
  t.test(
    'asks all members concurrently, each only once at a time, and continues after failures until it is stopped',
    async (t) => {
      const clock = new VirtualClock()
      const asked: string[] = []
      const reported: string[] = []
      const rounds = new DiskRounds({
        members: () => ['a', 'silent', 'broken'],
        views: { note: (member, { level }) => reported.push(`${member} ${level}`) },
        async ask(member) {
          asked.push(member)
          if (member === 'silent') await new Promise(() => undefined)
          if (member === 'broken') throw new Error('It does not know the question')
          return OPEN
        },
        clock,
        everyMs: 2_000,
        logger: SILENT,
      })
      rounds.start()
      await clock.advance(4_000)
      t.strictSame(asked, ['a', 'silent', 'broken', 'a', 'broken', 'a', 'broken'])
      t.strictSame(reported, ['a open', 'a open', 'a open'])
      rounds.stop()
      t.equal(clock.pending, 0)
    },
  )
})

t.test('readDiskView refuses a malformed view', async (t) => {
  t.strictSame(readDiskView({ level: 'reserve', isSuspect: true }), { level: 'reserve', isSuspect: true })
  for (const wrong of [null, {}, { level: 'brimming', isSuspect: false }, { level: 'open', isSuspect: 1 }])
    t.throws(() => readDiskView(wrong), { code: 'blob_call_invalid' })
})

/** A blob whose first place is the node. */
function blobFor(cluster: BlobCluster, nodeId: string): SampleBlob {
  for (let seed = 0; ; seed++) {
    const blob = sampleBlob(seed)
    if (cluster.ranked(blob)[0] === nodeId) return blob
  }
}

async function started(t: Test, zones: string): Promise<BlobCluster> {
  const cluster = await BlobCluster.start(t, zones)
  await cluster.watchDisks()
  return cluster
}

t.test('a write when a disk is full', async (t) => {
  t.test(
    'goes to the other two at once, from any gateway, and reports the copy of the full node as missing',
    async (t) => {
      const cluster = await started(t, 'x y z')
      cluster.setDisk('n2', { level: 'stopWriting' })
      await cluster.clock.advance(2_010)
      for (const [seed, from] of ['n1', 'n2', 'n3'].entries()) {
        const before = cluster.clock.now()
        const { replicas, missing } = await cluster.write(sampleBlob(seed), from)
        t.strictSame([[...replicas].sort(), missing], [['n1', 'n3'], ['n2']])
        t.ok(cluster.clock.now() - before < 10, 'the write does not wait for it')
      }
      t.equal(cluster.node('n2').store.writes, 0)
    },
  )

  t.test('does not contact a node that refused until that node reports free space', async (t) => {
    const cluster = await started(t, 'x y z')
    const { store } = cluster.node('n2')
    cluster.setDisk('n2', { level: 'stopWriting' })
    let asked = 0
    const write = store.writeNew.bind(store)
    store.writeNew = (...args) => {
      asked++
      return write(...args)
    }
    for (const seed of [1, 2, 3]) t.strictSame((await cluster.write(sampleBlob(seed))).missing, ['n2'])
    t.equal(asked, 1)
    cluster.setDisk('n2', { level: 'stopPlacing' })
    await cluster.clock.advance(2_010)
    t.strictSame((await cluster.write(sampleBlob(4))).missing, [])
  })

  t.test(
    'takes a fourth node instead of one that should be spared, and reports nothing as missing',
    async (t) => {
      const cluster = await started(t, 'w x y z')
      const blob = blobFor(cluster, 'n2')
      t.ok(cluster.node('n1').blobs.placement(blob.id).includes('n2'))
      cluster.setDisk('n2', { level: 'stopPlacing' })
      await cluster.clock.advance(2_010)
      const placed = [...cluster.node('n1').blobs.placement(blob.id)].sort()
      t.strictSame(placed, ['n1', 'n3', 'n4'])
      const { replicas, missing } = await cluster.write(blob)
      t.strictSame([[...replicas].sort(), missing], [placed, []])
    },
  )

  t.test('still spreads over zones when the only node of a zone should be spared', async (t) => {
    const cluster = await started(t, 'x x x y')
    cluster.setDisk('n4', { level: 'stopPlacing' })
    await cluster.clock.advance(2_010)
    for (const seed of [1, 2, 3, 4]) t.ok((await cluster.write(sampleBlob(seed))).replicas.includes('n4'))
  })

  t.test(
    'disk_full: is refused when two of three are, and not when one is full and one is down',
    async (t) => {
      const cluster = await started(t, 'x y z')
      cluster.setDisk('n2', { level: 'stopWriting' })
      cluster.setDisk('n3', { level: 'reserve' })
      // Also before any node knows it.
      for (const seed of [1, 2]) await t.rejects(cluster.write(sampleBlob(seed)), { code: 'disk_full' })
      await cluster.clock.advance(2_010)
      await t.rejects(cluster.write(sampleBlob(3), 'n2'), { name: 'Condition', code: 'disk_full' })
      cluster.setDisk('n3', { level: 'open' })
      await cluster.clock.advance(2_010)
      t.strictSame((await cluster.write(sampleBlob(4))).missing, ['n2'])
      cluster.network.isolate('n3')
      await t.rejects(cluster.write(sampleBlob(5)), { code: 'not_enough_replicas' })
    },
  )

  t.test('ignores an outdated answer: a node that returns empty after a silence is contacted', async (t) => {
    const cluster = await started(t, 'x y z')
    cluster.setDisk('n2', { level: 'reserve' })
    await cluster.clock.advance(2_010)
    t.notOk(cluster.node('n1').blobs.placement('ff').includes('n2'))
    cluster.network.isolate('n2')
    await cluster.clock.advance(10_000)
    t.ok(cluster.node('n1').blobs.placement('ff').includes('n2'))
  })
})

t.test('a suspect disk', async (t) => {
  t.test('gets no new copy while two others take them, and is read last', async (t) => {
    const cluster = await started(t, 'x y z')
    const blob = sampleBlob(1)
    await cluster.write(blob)
    for (const nodeId of ['n1', 'n2']) {
      cluster.setDisk(nodeId, { isSuspect: true })
      await cluster.clock.advance(2_010)
      const { blobs } = cluster.node('n1')
      t.notOk(blobs.placement(blob.id).includes(nodeId))
      const order = [...blobs.copies(refOf(blob, ['n1', 'n2', 'n3']))].map((copy) => copy.nodeId)
      t.equal(order.at(-1), nodeId, 'also on the node itself')
      const written = await cluster.write({ ...sampleBlob(2), birth: `on-${nodeId}` })
      t.strictSame(written.missing, [nodeId])
      cluster.setDisk(nodeId, { isSuspect: false })
    }
  })

  t.test('takes a copy when there would be only one without it', async (t) => {
    const cluster = await started(t, 'x y z')
    cluster.setDisk('n2', { isSuspect: true })
    cluster.setDisk('n3', { level: 'reserve' })
    await cluster.clock.advance(2_010)
    const { replicas, missing } = await cluster.write(sampleBlob(1))
    t.strictSame([[...replicas].sort(), missing], [['n1', 'n2'], ['n3']])
  })
})
