/**
 * Several disks as one store: the contract, where copies go, and what becomes of a disk that fails, vanishes, comes back or is replaced.
 */
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { BlobMissingError, type BlobName, StartError } from '../../cluster/base/types.ts'
import { writeDiskIdentity } from '../../cluster/blobs/disks/disk-identity.ts'
import { readDiskRecord } from '../../cluster/blobs/disks/disk-record.ts'
import { DiskBlobStore } from '../../cluster/blobs/disk/disk-blob-store.ts'
import { WholeBytes } from '../../cluster/blobs/base/whole-bytes.ts'
import { SILENT } from '../helpers/loggers.ts'
import { blobStoreContract } from '../port-suites/blob-store.ts'
import { collect, sampleBlob, sha256, streamOf } from './blob-samples.ts'
import { DisksWorld, largeBlobs, OWNER, writeAll } from './disks-world.ts'
import { flipBit, placeOf } from './stored-bytes.ts'

for (const [spread, fileBytesMin] of [
  ['in packs', Infinity],
  ['in files', 0],
] as const)
  t.test(`BlobDisks with everything ${spread}`, (t) =>
    blobStoreContract(t, async (t) => {
      const world = await DisksWorld.make(t, fileBytesMin)
      const { store } = await world.open()
      const damage = async (name: BlobName): Promise<void> => {
        for (const directory of world.directories) {
          const place = await placeOf(directory, name).catch(() => null)
          if (place !== null) await flipBit(place.path, place.at + 3)
        }
      }
      return { store, damage }
    }),
  )

t.test('copies are spread over all disks, and found after a restart', async (t) => {
  const world = await DisksWorld.make(t)
  const first = await world.open()
  const all = largeBlobs(40)
  await writeAll(first.store, all)
  const places = await Promise.all(all.map((blob) => world.where(blob)))
  for (const directory of world.directories)
    t.ok(places.filter(([only]) => only === directory).length >= 8, `${directory} has its share`)
  t.ok(places.every(({ length }) => length === 1))
  const usage = await first.store.usage()
  t.equal(usage.disks?.length, 2)
  t.equal(usage.totalBytes, 2 * (usage.disks?.[0]?.totalBytes ?? 0))
  await first.store.close()
  const { store } = await world.open()
  for (const blob of all) t.equal(sha256(await collect(store.read(blob, 0, blob.size))), blob.checksum)
  t.equal((await store.list(null, 100)).length, 40)
})

t.test('an empty mount point is not taken for an empty disk', async (t) => {
  const world = await DisksWorld.make(t)
  const { set, store } = await world.open()
  const all = largeBlobs(40)
  await writeAll(store, all)
  const [gone = ''] = world.directories
  const lost: ReturnType<typeof sampleBlob>[] = []
  for (const blob of all) if ((await world.where(blob)).includes(gone)) lost.push(blob)
  await rename(gone, `${gone}.away`)
  await mkdir(gone)
  t.equal(await set.look(), true)
  t.match((await store.usage()).disks, [{ status: 'absent' }, { status: 'serving' }])
  t.strictSame(await readdir(gone), [], 'nothing was written into it')
  for (const blob of lost) t.equal(await store.stat(blob), null)
  t.same(
    await store.areUnchanged(lost),
    lost.map(() => false),
  )
  await writeAll(store, largeBlobs(10, 100))
  t.strictSame(await readdir(gone), [])
  t.equal(await set.look(), false, 'it stays out without news')

  await t.test('also not at the next start', async (t) => {
    await store.close()
    const again = await world.open()
    t.match((await again.store.usage()).disks, [{ status: 'absent' }, { status: 'serving' }])
    t.strictSame(await readdir(gone), [])
    await again.store.close()
  })

  await t.test('and used again when it is back, with a walk over what it has', async (t) => {
    const again = await world.open()
    await rm(gone, { recursive: true })
    await rename(`${gone}.away`, gone)
    const before = world.unknown
    t.equal(await again.set.look(), true)
    t.ok(world.unknown > before)
    for (const blob of lost) t.equal((await again.store.verify(blob)).checksum, blob.checksum)
    t.same(
      (await readDiskRecord(world.dataDir)).map(({ isOut }) => isOut),
      [false, false],
    )
  })
})

t.test('a copy that was made again while its disk was away stays once', async (t) => {
  const world = await DisksWorld.make(t)
  const { set, store } = await world.open()
  const [blob = sampleBlob(1)] = largeBlobs(1)
  await writeAll(store, [blob])
  const [home = ''] = await world.where(blob)
  await rename(home, `${home}.away`)
  await set.look()
  await store.write(blob, streamOf(blob.bytes), blob)
  await rename(`${home}.away`, home)
  await set.look()
  t.equal((await world.where(blob)).length, 2)
  t.equal((await store.list(null, 10)).length, 1)
  await store.verify(blob)
  t.equal((await world.where(blob)).length, 1, 'the second one goes when the first was read back')
  await store.remove([blob])
  t.strictSame(await world.where(blob), [])
})

t.test('a damaged copy hides no good one on another disk', async (t) => {
  const world = await DisksWorld.make(t)
  const { set, store } = await world.open()
  const [blob = sampleBlob(1)] = largeBlobs(1)
  await writeAll(store, [blob])
  const [home = ''] = await world.where(blob)
  await rename(home, `${home}.away`)
  await set.look()
  await store.write(blob, streamOf(blob.bytes), blob)
  await rename(`${home}.away`, home)
  await set.look()
  const { path, at } = await placeOf(home, blob)
  await flipBit(path, at + 3)
  t.equal((await store.verify(blob)).checksum, blob.checksum)
  t.notOk((await world.where(blob)).includes(home), 'the damaged one is in quarantine')
})

for (const areFlushesBroken of [true, false])
  t.test(
    `a disk ${areFlushesBroken ? 'whose flush fails' : 'that fails again and again'} is taken out alone, and read as a last resort`,
    (t) => withBrokenDisk(t, areFlushesBroken),
  )

async function withBrokenDisk(t: Test, areFlushesBroken: boolean): Promise<void> {
  const world = await DisksWorld.make(t)
  world.areFlushesBroken = areFlushesBroken
  const { set, store } = await world.open()
  const all = largeBlobs(20)
  await writeAll(store, all)
  const [bad = '', good = ''] = world.directories
  world.broken = bad
  // Those that would go to the broken disk go to the other one.
  await writeAll(store, largeBlobs(20, 100))
  t.ok(world.troubles > 0, 'it is reported at once')
  t.equal(await set.look(), true)
  t.match((await store.usage()).disks, [{ status: 'failed' }, { status: 'serving' }])
  for (const blob of largeBlobs(20, 100)) t.strictSame(await world.where(blob), [good])
  world.broken = null
  const held = []
  for (const blob of all) if ((await world.where(blob)).includes(bad)) held.push(blob)
  const [one = sampleBlob(0)] = held
  t.equal(await store.stat(one), null, 'it does not count')
  t.equal(sha256(await collect(store.read(one, 0, one.size))), one.checksum)
  t.equal(await set.look(), false, 'it is not used again by itself')
}

t.test('another disk in the place of a failed one is used at once', async (t) => {
  const world = await DisksWorld.make(t)
  const { set, store } = await world.open()
  const [place = ''] = world.directories
  await rename(place, `${place}.old`)
  await mkdir(place)
  await set.look()
  await writeDiskIdentity(place, { ...OWNER, diskId: 'f'.repeat(32) })
  t.equal(await set.look(), true)
  t.match((await store.usage()).disks, [{ status: 'serving', diskId: 'f'.repeat(32) }, { status: 'serving' }])
  const all = largeBlobs(30)
  await writeAll(store, all)
  const places = await Promise.all(all.map((blob) => world.where(blob)))
  t.ok(places.some(([only]) => only === place))
})

t.test('a disk of another node, or one disk at two paths, is not used', async (t) => {
  const world = await DisksWorld.make(t)
  const { set, store } = await world.open()
  const [place = ''] = world.directories
  await rename(place, `${place}.old`)
  await mkdir(place)
  await writeDiskIdentity(place, { clusterId: 'cluster-1', nodeId: 'n2', diskId: 'f'.repeat(32) })
  await set.look()
  t.match((await store.usage()).disks, [{ status: 'foreign' }, { status: 'serving' }])
  const [, other] = await readDiskRecord(world.dataDir)
  await writeDiskIdentity(place, { ...OWNER, diskId: other?.diskId ?? '' })
  await set.look()
  t.match((await store.usage()).disks, [{ status: 'foreign' }, { status: 'serving' }])
})

t.test('without any disk nothing is written, and nothing is claimed', async (t) => {
  const world = await DisksWorld.make(t)
  const { set, store } = await world.open()
  for (const directory of world.directories) await rename(directory, `${directory}.away`)
  await set.look()
  const [blob = sampleBlob(0)] = largeBlobs(1)
  await t.rejects(store.writeNew(blob, new WholeBytes(blob.bytes), blob), { code: 'io_error' })
  await t.rejects(store.verify(blob), BlobMissingError)
  t.match(await store.usage(), { isSuspect: true, level: 'reserve', totalBytes: 0 })
})

t.test(
  'the disk of a node that had one is used with what it has, and emptied when it is not named',
  async (t) => {
    const world = await DisksWorld.make(t)
    const old = new DiskBlobStore({
      directory: join(world.dataDir, 'blobs'),
      logger: SILENT,
      onFatal: (error) => t.fail(error.message),
    })
    await old.open()
    const [kept = sampleBlob(0), ...more] = largeBlobs(10)
    await old.write(kept, streamOf(kept.bytes), kept)
    await old.close()
    const { store } = await world.open()
    t.match((await store.usage()).disks, [
      {},
      {},
      { directory: join(world.dataDir, 'blobs'), status: 'draining' },
    ])
    t.equal((await store.verify(kept)).checksum, kept.checksum)
    await writeAll(store, more)
    const places = await Promise.all(more.map((blob) => world.where(blob)))
    t.ok(
      places.every(({ length }) => length === 1),
      'new copies go to the named ones',
    )
  },
)

t.test('blob_directory_unusable', async (t) => {
  const refused = async (t: Test, prepare: (world: DisksWorld) => Promise<unknown>, why: RegExp) => {
    const world = await DisksWorld.make(t)
    await prepare(world)
    const cause: unknown = await world.open().then(
      () => null,
      (error: unknown) => error,
    )
    t.ok(cause instanceof StartError && cause.code === 'blob_directory_unusable', String(cause))
    t.match(cause instanceof Error ? cause.message : '', why)
    t.notOk((await readdir(world.dataDir)).includes('disks.json'), 'nothing was written')
  }
  t.test('a directory that does not exist', (t) =>
    refused(t, ({ directories: [first = ''] }) => rm(first, { recursive: true }), /does not exist/),
  )
  t.test('a directory with other files', (t) =>
    refused(t, ({ directories: [first = ''] }) => writeFile(join(first, 'photo.jpg'), ''), /not empty/),
  )
  t.test('a disk of another node', (t) =>
    refused(
      t,
      ({ directories: [first = ''] }) =>
        writeDiskIdentity(first, { clusterId: 'cluster-1', nodeId: 'n2', diskId: 'f'.repeat(32) }),
      /node "n2"/,
    ),
  )
  t.test('one disk at two paths', (t) =>
    refused(
      t,
      async ({ directories }) => {
        for (const directory of directories)
          await writeDiskIdentity(directory, { ...OWNER, diskId: 'f'.repeat(32) })
      },
      /another directory/,
    ),
  )
})
