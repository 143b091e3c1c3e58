/** Copies move from a fuller disk of a node to emptier ones: read back before the old one goes, and no more than is needed. */
import t from 'tap'
import { CopyLocks } from '../../cluster/blobs/disk/copy-locks.ts'
import { EvenOutDisks } from '../../cluster/repair/even-out-disks.ts'
import { SILENT } from '../helpers/loggers.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'
import { until } from '../helpers/async.ts'
import { sampleBlob } from './blob-samples.ts'
import { DisksWorld, largeBlobs, writeAll } from './disks-world.ts'

const size = (usedBytes: number) => ({ totalBytes: 1_000_000, freeBytes: 1_000_000 - usedBytes })

t.test('a new disk is filled from a fuller one up to the mean, and then it rests', async (t) => {
  const world = await DisksWorld.make(t)
  const [first = '', second = ''] = world.directories
  world.sizes = { [first]: size(0), [second]: { ...size(1_000_000), freeBytes: 0 } }
  const { set, store } = await world.open()
  const all = largeBlobs(30)
  await writeAll(store, all)
  const onSecond = async () => {
    const places = await Promise.all(all.map((blob) => world.where(blob)))
    return places.filter(([only]) => only === second).length
  }
  t.equal(await onSecond(), 0)
  const clock = new VirtualClock()
  const evenOut = new EvenOutDisks({
    disks: store.mover,
    locks: new CopyLocks(),
    throttle: { pass: async () => undefined },
    clock,
    logger: SILENT,
  })
  world.sizes = { [first]: size(160_000), [second]: size(0) }
  evenOut.start()
  await clock.advance(1)
  await clock.advance(3_600_000)
  t.equal(await onSecond(), 0, 'a small difference moves nothing')
  world.sizes = { [first]: size(220_000), [second]: size(0) }
  await clock.advance(60_000)
  await until('copies move', async () => (await onSecond()) >= 22)
  await evenOut.stop()
  t.equal(await onSecond(), 22, '110,000 bytes in copies of 5,000')
  for (const blob of all) {
    t.equal((await world.where(blob)).length, 1)
    t.equal((await store.verify(blob)).checksum, blob.checksum)
  }
  t.equal(set.used.length, 2)
})

t.test('a copy stays where it is when the emptier disk does not take it', async (t) => {
  const world = await DisksWorld.make(t)
  const { store, set } = await world.open()
  const all = largeBlobs(10)
  await writeAll(store, all)
  const [first = '', second = ''] = world.directories
  const [blob = sampleBlob(0)] = (
    await Promise.all(all.map(async (one) => ((await world.where(one))[0] === first ? [one] : [])))
  ).flat()
  const [from = '', to = ''] = set.all.map(({ diskId }) => diskId)
  world.broken = second
  await t.rejects(store.mover.moveTo(blob, { from, to: [to] }))
  t.strictSame(await world.where(blob), [first])
  world.broken = null
  t.ok((await store.mover.moveTo(blob, { from, to: [to] })) > 0)
  t.strictSame(await world.where(blob), [second])
  t.equal(await store.mover.moveTo(blob, { from, to: [to] }), 0)
})
