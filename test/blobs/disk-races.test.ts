/**
 * What happens between the steps of a call to several disks: copies that move, disks that are replaced, fail or hang meanwhile. Each test
 * is named after what must not happen.
 */
import { mkdir, rename } from 'node:fs/promises'
import t, { type Test } from 'tap'
import { BlobMissingError } from '../../cluster/base/types.ts'
import { writeDiskIdentity } from '../../cluster/blobs/disks/disk-identity.ts'
import { drainDisk } from '../../cluster/blobs/disks/prepare-disk.ts'
import { until } from '../helpers/async.ts'
import { collect, sampleBlob, sha256, streamOf } from './blob-samples.ts'
import { DisksWorld, largeBlobs, OWNER, writeAll } from './disks-world.ts'
import { flipBit, placeOf } from './stored-bytes.ts'

type Blob = ReturnType<typeof sampleBlob>

const expected = ({ dataDir, directories }: DisksWorld) => ({ ...OWNER, dataDir, directories })

/** A promise that a test ends by itself. */
class Latch {
  open: () => void = () => undefined
  readonly opened = new Promise<void>((resolve) => {
    this.open = resolve
  })
}

/** Copies lie on the second disk, which is emptied; a fresh store knows no places. */
async function leavingSecond(t: Test) {
  const world = await DisksWorld.make(t)
  const first = await world.open()
  const all = largeBlobs(20)
  await writeAll(first.store, all)
  const [, second = ''] = world.directories
  const held: Blob[] = []
  for (const blob of all) if ((await world.where(blob)).includes(second)) held.push(blob)
  await first.store.close()
  await drainDisk(expected(world), second, true)
  const opened = await world.open()
  await opened.set.look()
  return { world, ...opened, second, held }
}

for (const what of ['read', 'stat', 'verify'] as const)
  t.test(`a copy that moves between two looks of a ${what} is not missing`, async (t) => {
    const { world, store, held, second } = await leavingSecond(t)
    const [blob = sampleBlob(0)] = held
    const [arrived, latch] = [new Latch(), new Latch()]
    let isFirst = true
    world.gate = async (kind, path) => {
      if (kind !== 'open' || !path.startsWith(second) || !path.includes(blob.id) || !isFirst) return
      isFirst = false
      arrived.open()
      await latch.opened
    }
    const looks = {
      read: async () => sha256(await collect(store.read(blob, 0, blob.size))),
      stat: async () => (await store.stat(blob))?.checksum,
      verify: async () => (await store.verify(blob)).checksum,
    }
    const found = looks[what]()
    await arrived.opened
    t.ok((await store.mover.moveOff(blob)) > 0)
    latch.open()
    t.equal(await found, blob.checksum)
    await store.remove([blob])
    await t.rejects(collect(store.read(blob, 0, 1)), BlobMissingError, 'what is gone is missing')
  })

t.test('a copy that moves while names are listed is not left out', async (t) => {
  const { world, store, held, second } = await leavingSecond(t)
  const all = (await store.list(null, 100)).length
  const names = await store.mover.leaving(null, 100)
  t.equal(names.length, held.length)
  const [arrived, latch] = [new Latch(), new Latch()]
  // The first disk is listed before the second; the move happens in between.
  const [, disk] = world.opened?.set.used ?? []
  const ownList = disk?.store?.list.bind(disk.store)
  if (disk?.store) {
    disk.store.list = async (after, limit) => {
      arrived.open()
      await latch.opened
      return (await ownList?.(after, limit)) ?? []
    }
  }
  const listed = store.list(null, 100)
  await arrived.opened
  const [blob = sampleBlob(0)] = held
  await store.mover.moveOff(blob)
  t.strictSame(await world.where(blob), [world.directories[0]])
  latch.open()
  t.equal((await listed).length, all, second)
})

t.test('what the disk before reports does not take out the disk in its place', async (t) => {
  const world = await DisksWorld.make(t)
  const { set, store } = await world.open()
  const [place = ''] = world.directories
  const latch = new Latch()
  let waiting = 0
  let isOld = true
  world.gate = async (kind, path) => {
    if (!isOld || !path.startsWith(place) || (kind !== 'flush' && kind !== 'open')) return
    waiting++
    await latch.opened
    throw Object.assign(new Error('EIO'), { code: 'EIO' })
  }
  const writes = largeBlobs(20).map((blob) =>
    store.writeNew(blob, streamOf(blob.bytes), blob).catch(() => undefined),
  )
  const asked = Array.from({ length: 8 }, (_, n) => store.stat(sampleBlob(1000 + n)).catch(() => undefined))
  await until('calls are under way', async () => waiting > 5)
  await rename(place, `${place}.old`)
  await mkdir(place)
  await set.look()
  await writeDiskIdentity(place, { ...OWNER, diskId: 'f'.repeat(32) })
  isOld = false
  await set.look()
  t.match((await store.usage()).disks, [{ status: 'serving', diskId: 'f'.repeat(32) }, {}])
  latch.open()
  await Promise.all([...writes, ...asked])
  await set.look()
  t.match((await store.usage()).disks, [{ status: 'serving' }, { status: 'serving' }])
})

t.test('failures with a success in between do not take a disk out', async (t) => {
  const world = await DisksWorld.make(t)
  const { set, store } = await world.open()
  const [blob = sampleBlob(0)] = largeBlobs(1)
  await writeAll(store, [blob])
  const [home = ''] = await world.where(blob)
  const disk = set.all.find(({ directory }) => directory === home)
  if (disk?.store) disk.store.stat = async () => Promise.reject(new Error('EIO'))
  for (let n = 0; n < 3; n++) {
    for (let fault = 0; fault < 4; fault++) await t.rejects(store.stat(blob))
    await collect(store.read(blob, 0, 10))
  }
  await set.look()
  t.match((await store.usage()).disks, [{ status: 'serving' }, { status: 'serving' }])
})

async function onBoth(t: Test) {
  const world = await DisksWorld.make(t)
  const opened = await world.open()
  const [blob = sampleBlob(1)] = largeBlobs(1)
  await writeAll(opened.store, [blob])
  const [home = ''] = await world.where(blob)
  await rename(home, `${home}.away`)
  await opened.set.look()
  await opened.store.write(blob, streamOf(blob.bytes), blob)
  await rename(`${home}.away`, home)
  await opened.set.look()
  const [other = ''] = world.directories.filter((directory) => directory !== home)
  const diskAt = (directory: string) => {
    const disk = opened.set.all.find((one) => one.directory === directory)
    if (disk === undefined) throw new Error(directory)
    return disk
  }
  return { world, ...opened, blob, home, other, diskAt }
}

t.test('a copy on a disk that just failed is no reason to remove another one', async (t) => {
  const { world, set, store, blob, home, other, diskAt } = await onBoth(t)
  await drainDisk(expected(world), home, true)
  await set.look()
  set.fail(diskAt(other), new Error('a flush failed'))
  await t.rejects(store.mover.moveOff(blob), { code: 'disk_full' })
  await store.verify(blob)
  t.ok((await world.where(blob)).includes(home))
  await set.look()
  t.equal((await store.verify(blob)).checksum, blob.checksum)
})

t.test('of two copies the one on the disk that is emptied is not the one that is kept', async (t) => {
  for (const at of ['home', 'other'] as const) {
    const { world, set, store, blob, ...places } = await onBoth(t)
    await collect(store.read(blob, 0, 1))
    await drainDisk(expected(world), places[at], true)
    await set.look()
    await store.verify(blob)
    const [kept] = [places.home, places.other].filter((place) => place !== places[at])
    t.strictSame(await world.where(blob), [kept])
  }
})

t.test('a damaged copy on a disk that is emptied is not made again there', async (t) => {
  const { world, store, held, second } = await leavingSecond(t)
  const [blob = sampleBlob(0)] = held
  const { path, at } = await placeOf(second, blob)
  await flipBit(path, at + 3)
  await store.write(blob, streamOf(blob.bytes), blob)
  t.strictSame(await world.where(blob), [world.directories[0]])
  t.equal((await store.verify(blob)).checksum, blob.checksum)
})

t.test('an error of one disk hides no copy of another in a question about many', async (t) => {
  const world = await DisksWorld.make(t, Infinity)
  const all = largeBlobs(20)
  const first = await world.open()
  await writeAll(first.store, all)
  await first.store.close()
  const { set, store } = await world.open()
  t.notOk((await store.areUnchanged(all)).includes(false))
  const [bad] = set.all
  if (bad?.store) bad.store.areUnchanged = async () => Promise.reject(new Error('EIO'))
  const found = await store.areUnchanged(all)
  t.ok(found.includes(true), 'those on the other disk are there')
})

t.test('a write is not acknowledged by a disk that failed meanwhile', async (t) => {
  const world = await DisksWorld.make(t)
  const { set, store } = await world.open()
  const [blob = sampleBlob(0)] = largeBlobs(1)
  let hit: string | null = null
  world.gate = async (kind, path) => {
    if (kind !== 'create' || hit !== null) return
    const disk = set.all.find(({ directory }) => path.startsWith(directory))
    if (disk === undefined) return
    hit = disk.directory
    set.fail(disk, new Error('another flush failed'))
  }
  await t.rejects(store.writeNew(blob, streamOf(blob.bytes), blob), { code: 'io_error' })
  await set.look()
  t.equal(set.used.length, 1)
})

t.test('a disk that gives no answer does not keep the node from the others', async (t) => {
  const world = await DisksWorld.make(t)
  const { set, store } = await world.open()
  const all = largeBlobs(20)
  await writeAll(store, all)
  const [bad = '', good = ''] = world.directories
  const latch = new Latch()
  const askedAgain = new Latch()
  let [isHanging, isOut, calls] = [true, false, 0]
  world.gate = async (_, path) => {
    if (!isHanging || !path.startsWith(bad)) return
    calls++
    if (isOut) askedAgain.open()
    await latch.opened
  }
  const looked = set.look()
  await until('it is asked', async () => calls > 0)
  await world.clock.advance(30_000)
  t.equal(await looked, true)
  t.match((await store.usage()).disks, [{ status: 'failed' }, { status: 'serving' }])
  isOut = true
  await set.look()
  for (const blob of all)
    if ((await world.where(blob)).includes(good)) t.equal((await store.verify(blob)).checksum, blob.checksum)
    else {
      const outcome = collect(store.read(blob, 0, 1)).catch((cause: unknown) => cause)
      const asked = askedAgain.opened.then(() => 'it is asked again')
      const first = await Promise.race([outcome, asked])
      t.ok(first instanceof BlobMissingError, String(first))
      if (!(first instanceof BlobMissingError)) break
    }
  await writeAll(store, largeBlobs(3, 200))
  isHanging = false
  latch.open()
  await until('the look has ended', async () => set.all.every((disk) => !disk.isHanging))
  await set.look()
  t.match((await store.usage()).disks, [{ status: 'failed' }, { status: 'serving' }], 'until a restart')
})
