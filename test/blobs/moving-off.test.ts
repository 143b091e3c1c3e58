/** Copies of a disk that is emptied: copied, read back, and only then removed; a damaged one stays, a full node loses nothing. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { drainDisk, prepareDisk } from '../../cluster/blobs/disks/prepare-disk.ts'
import { CopyLocks } from '../../cluster/blobs/disk/copy-locks.ts'
import { SystemClock } from '../../cluster/base/system-clock.ts'
import { DiskDrain } from '../../cluster/repair/disk-drain.ts'
import { until } from '../helpers/async.ts'
import { SILENT } from '../helpers/loggers.ts'
import { sampleBlob } from './blob-samples.ts'
import { DisksWorld, largeBlobs, OWNER, writeAll } from './disks-world.ts'
import { flipBit, placeOf } from './stored-bytes.ts'

type Opened = Awaited<ReturnType<DisksWorld['open']>>

const expected = ({ dataDir, directories }: DisksWorld) => ({ ...OWNER, dataDir, directories })

async function statuses({ store }: Opened): Promise<readonly string[]> {
  return ((await store.usage()).disks ?? []).map(({ status }) => status)
}

t.test(
  'a disk that is drained is emptied, takes nothing new, and is used again when that is cancelled',
  async (t) => {
    const world = await DisksWorld.make(t)
    const opened = await world.open()
    const { set, store } = opened
    const all = largeBlobs(30)
    await writeAll(store, all)
    const [first = '', second = ''] = world.directories
    await drainDisk(expected(world), first, true)
    t.equal(await set.look(), false, 'no copy is gone')
    t.same(await statuses(opened), ['draining', 'serving'])
    const drain = new DiskDrain({
      disks: store.mover,
      locks: new CopyLocks(),
      throttle: { pass: async () => undefined },
      clock: new SystemClock(),
      logger: SILENT,
    })
    drain.start()
    await until('it is empty', async () => (await store.mover.leaving(null, 1)).length === 0)
    await drain.stop()
    await set.look()
    t.same(await statuses(opened), ['drained', 'serving'])
    for (const blob of all) {
      t.strictSame(await world.where(blob), [second])
      t.equal((await store.verify(blob)).checksum, blob.checksum)
    }
    await writeAll(store, largeBlobs(10, 100))
    t.strictSame(await store.mover.leaving(null, 1), [], 'nothing new goes there')
    await drainDisk(expected(world), first, false)
    await set.look()
    t.same(await statuses(opened), ['serving', 'serving'])
  },
)

t.test('a copy is removed only after it was read back on another disk', async (t) => {
  const world = await DisksWorld.make(t)
  const { set, store } = await world.open()
  const all = largeBlobs(20)
  await writeAll(store, all)
  const [first = '', second = ''] = world.directories
  await drainDisk(expected(world), first, true)
  await set.look()
  const [name = sampleBlob(0)] = await store.mover.leaving(null, 1)
  world.broken = second
  await t.rejects(store.mover.moveOff(name))
  t.strictSame(await world.where(name), [first])
  world.broken = null
  t.ok((await store.mover.moveOff(name)) > 0)
  t.strictSame(await world.where(name), [second])
  t.equal(await store.mover.moveOff(name), 0, 'again it is no error')
})

t.test('a damaged copy stays where it is, for the scrub to find', async (t) => {
  const world = await DisksWorld.make(t)
  const { set, store } = await world.open()
  await writeAll(store, largeBlobs(20))
  const [first = ''] = world.directories
  await drainDisk(expected(world), first, true)
  await set.look()
  const [name = sampleBlob(0)] = await store.mover.leaving(null, 1)
  const { path, at } = await placeOf(first, name)
  await flipBit(path, at + 3)
  await t.rejects(store.mover.moveOff(name), { code: 'checksum_mismatch' })
  t.strictSame(await world.where(name), [first])
})

t.test('with no other disk that takes copies nothing moves', async (t) => {
  const world = await DisksWorld.make(t)
  const { set, store } = await world.open()
  await writeAll(store, largeBlobs(10))
  for (const directory of world.directories) await drainDisk(expected(world), directory, true)
  await set.look()
  const [name = sampleBlob(0)] = await store.mover.leaving(null, 1)
  await t.rejects(store.mover.moveOff(name), { code: 'disk_full' })
  t.equal((await world.where(name)).length, 1)
})

t.test('what is no disk of this node is neither prepared nor drained', async (t) => {
  const world = await DisksWorld.make(t)
  const [first = ''] = world.directories
  const refused = { code: 'blob_directory_unusable' }
  await t.rejects(drainDisk(expected(world), first, true), refused, 'it has no identity')
  await t.rejects(
    prepareDisk(expected(world), join(world.root, 'other')),
    refused,
    'the settings do not name it',
  )
  await writeFile(join(first, 'photo.jpg'), '')
  await t.rejects(prepareDisk(expected(world), first), refused, 'it is not empty')
  const more = { ...expected(world), directories: [join(world.root, 'd3')] }
  await t.rejects(prepareDisk(more, join(world.root, 'd3')), refused, 'it does not exist')
  await mkdir(join(world.root, 'd3'))
  t.match(await prepareDisk(more, join(world.root, 'd3')), { diskId: /^[0-9a-f]{32}$/ })
  await t.rejects(prepareDisk(more, join(world.root, 'd3')), refused, 'it is a disk already')
  const foreign = { ...more, nodeId: 'n2' }
  await t.rejects(drainDisk(foreign, join(world.root, 'd3'), true), refused, 'it is the disk of another node')
})
