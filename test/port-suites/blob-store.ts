/**
 * What every BlobStore must do. A store and a way to damage it are passed to this suite.
 */
import { crc32c } from '@node-rs/crc32'
import type { Test } from 'tap'
import type { BlobStore } from '../../cluster/blobs/base/blob-store.ts'
import { WholeBytes } from '../../cluster/blobs/base/whole-bytes.ts'
import { BlobDamagedError, BlobMissingError, type BlobName } from '../../cluster/base/types.ts'
import { collect, flipped, sampleBlob, sha256, streamOf } from '../blobs/blob-samples.ts'

export interface BlobStoreBench {
  readonly store: Omit<BlobStore, 'usage'>
  /** Flips one bit among the stored bytes of a blob, without the store's knowledge. */
  damage(name: BlobName): Promise<void>
}

const HOSTILE_NAMES: readonly BlobName[] = [
  { id: '../../../../etc/passwd', birth: 'b' },
  { id: 'ABCDEF0123456789', birth: 'b' },
  { id: 'abcdef', birth: 'b' },
  { id: 'a'.repeat(65), birth: 'b' },
  { id: '0123456789abcdef\n', birth: 'b' },
  { id: '0123456789abcdef', birth: '' },
  { id: '0123456789abcdef', birth: '..' },
  { id: '0123456789abcdef', birth: 'a/b' },
  { id: '0123456789abcdef', birth: 'a\0' },
  { id: '0123456789abcdef', birth: 'B' },
  { id: '0123456789abcdef', birth: 'b'.repeat(65) },
  { id: ['0123456789abcdef'] as never, birth: 'b' },
  { id: '0123456789abcdef', birth: null as never },
]

export async function blobStoreContract(
  t: Test,
  makeBench: (t: Test) => Promise<BlobStoreBench>,
): Promise<void> {
  t.test('write', (t) => writeContract(t, makeBench))
  t.test('writeNew', (t) => writeNewContract(t, makeBench))
  t.test('read', (t) => readContract(t, makeBench))
  t.test('verify, stat and quarantine', (t) => damageContract(t, makeBench))
  t.test('list', (t) => listContract(t, makeBench))
  t.test('remove', (t) => removeContract(t, makeBench))
}

async function writeContract(t: Test, makeBench: (t: Test) => Promise<BlobStoreBench>): Promise<void> {
  t.test('returns the written bytes, for empty, small and large blobs in any pieces', async (t) => {
    const { store } = await makeBench(t)
    for (const [seed, size] of [0, 1, 255, 256, 4096, 700_001].entries()) {
      const blob = sampleBlob(seed, size)
      const middle = size >> 1
      await store.write(blob, streamOf(blob.bytes.subarray(0, middle), blob.bytes.subarray(middle)), blob)
      t.strictSame(await store.stat(blob), { size, checksum: blob.checksum })
      t.strictSame(await store.verify(blob), { size, checksum: blob.checksum })
      t.equal(sha256(await collect(store.read(blob, 0, size))), blob.checksum)
    }
  })

  t.test('keeps no reference to the memory of a source that reuses it', async (t) => {
    const { store } = await makeBench(t)
    for (const [seed, size] of [3000, 700_001, 1_500_000].entries()) {
      const blob = sampleBlob(seed, size)
      const source = async function* () {
        for (const pieceBytes of [1000, 65_536, 300_000]) {
          const memory = new Uint8Array(pieceBytes)
          for (let at = given; at < Math.min(size, given + 3 * pieceBytes); at += pieceBytes) {
            const piece = blob.bytes.subarray(at, Math.min(at + pieceBytes, size))
            memory.set(piece)
            yield memory.subarray(0, piece.length)
            memory.fill(0xff)
          }
          given = Math.min(size, given + 3 * pieceBytes)
        }
        yield blob.bytes.slice(given)
      }
      let given = 0
      await store.write(blob, source(), blob)
      t.strictSame(await store.verify(blob), { size, checksum: blob.checksum })
    }
  })

  t.test(
    'leaves nothing when the source is shorter, longer or other than announced, or breaks',
    async (t) => {
      const { store } = await makeBench(t)
      const blob = sampleBlob(1)
      const other = sampleBlob(2)
      const broken = async function* () {
        yield blob.bytes.subarray(0, 10)
        throw new Error('the sender is gone')
      }
      await t.rejects(store.write(blob, streamOf(blob.bytes.subarray(1)), blob), { code: 'size_mismatch' })
      await t.rejects(store.write(blob, streamOf(blob.bytes, other.bytes), blob), { code: 'size_mismatch' })
      await t.rejects(store.write(blob, streamOf(other.bytes), blob), { code: 'checksum_mismatch' })
      await t.rejects(store.write(blob, broken(), blob), { message: 'the sender is gone' })
      t.equal(await store.stat(blob), null)
      t.strictSame(await store.list(null, 10), [])
      await store.write(blob, streamOf(blob.bytes), blob)
      t.strictSame(await store.verify(blob), { size: blob.size, checksum: blob.checksum })
    },
  )

  t.test('does nothing when the name holds the same bytes, and refuses other bytes under it', async (t) => {
    const { store } = await makeBench(t)
    const blob = sampleBlob(1)
    const other = sampleBlob(2)
    await store.write(blob, streamOf(blob.bytes), blob)
    await store.write(blob, streamOf(blob.bytes), blob)
    await t.rejects(store.write(blob, streamOf(other.bytes), other.size === blob.size ? other : blob), {
      code: 'name_taken',
    })
    t.strictSame(await store.verify(blob), { size: blob.size, checksum: blob.checksum })
  })

  t.test('keeps one intact copy when two writers bring the same blob at once', async (t) => {
    const { store } = await makeBench(t)
    const blob = sampleBlob(1, 50_000)
    await Promise.all([1, 2, 3].map(() => store.write(blob, streamOf(blob.bytes), blob)))
    t.strictSame(await store.verify(blob), { size: blob.size, checksum: blob.checksum })
    t.equal((await store.list(null, 10)).length, 1)
  })

  t.test('replaces a damaged copy when its bytes come again', async (t) => {
    const bench = await makeBench(t)
    const blob = sampleBlob(1)
    await bench.store.write(blob, streamOf(blob.bytes), blob)
    await bench.damage(blob)
    await bench.store.write(blob, streamOf(blob.bytes), blob)
    t.strictSame(await bench.store.verify(blob), { size: blob.size, checksum: blob.checksum })
  })

  t.test('refuses invalid names in every call', async (t) => {
    const { store } = await makeBench(t)
    const { bytes, size, checksum } = sampleBlob(1)
    const good = sampleBlob(2)
    for (const name of HOSTILE_NAMES) {
      await t.rejects(store.write(name, streamOf(bytes), { size, checksum }), TypeError)
      await t.rejects(async () => collect(store.read(name, 0, 1)), TypeError)
      await t.rejects(async () => store.stat(name), TypeError)
      await t.rejects(async () => store.verify(name), TypeError)
      await t.rejects(async () => store.quarantine(name), TypeError)
      await t.rejects(async () => store.remove([good, name]), TypeError)
      await t.rejects(async () => store.list(name, 1), TypeError)
    }
    await t.rejects(store.write(good, streamOf(bytes), { size, checksum: 'x'.repeat(64) }), TypeError)
    t.strictSame(await store.list(null, 10), [])
  })
}

async function writeNewContract(t: Test, makeBench: (t: Test) => Promise<BlobStoreBench>): Promise<void> {
  t.test('returns the written bytes, compared with their CRC-32C or with their checksum', async (t) => {
    const { store } = await makeBench(t)
    for (const [seed, size] of [0, 1, 4096, 700_001].entries()) {
      const blob = sampleBlob(seed, size)
      const expected = seed % 2 === 0 ? { ...blob, crc32c: crc32c(blob.bytes) } : blob
      const pieces = [blob.bytes.subarray(0, size >> 1), blob.bytes.subarray(size >> 1)]
      await store.writeNew(blob, streamOf(...pieces), expected)
      t.strictSame(await store.verify(blob), { size, checksum: blob.checksum })
      t.equal(sha256(await collect(store.read(blob, 0, size))), blob.checksum)
    }
  })

  t.test('writes bytes that are in memory as a whole, and leaves them as they are', async (t) => {
    const { store } = await makeBench(t)
    for (const [seed, size] of [0, 1, 3000, 700_001, 1_500_000].entries()) {
      const blob = sampleBlob(seed, size)
      for (const sums of [{ crc32c: crc32c(blob.bytes) }, {}]) {
        const name = { id: blob.id, birth: `birth-${'crc32c' in sums}` }
        const bytes = Uint8Array.from(blob.bytes)
        await store.writeNew(name, new WholeBytes(bytes), { ...blob, ...sums })
        t.strictSame(await store.verify(name), { size, checksum: blob.checksum })
        t.equal(sha256(bytes), blob.checksum)
        if (size === 0) continue
        const spoiled = new WholeBytes(flipped(bytes, size >> 1))
        const other = { ...name, birth: 'spoiled' }
        await t.rejects(store.writeNew(other, spoiled, { ...blob, ...sums }), { code: 'checksum_mismatch' })
        t.equal(await store.stat(other), null)
      }
    }
  })

  t.test('leaves nothing when one bit differs from the CRC-32C or the checksum', async (t) => {
    const { store } = await makeBench(t)
    for (const size of [3000, 700_001]) {
      const blob = sampleBlob(1, size)
      for (const at of [0, size >> 1, size - 1])
        for (const expected of [{ ...blob, crc32c: crc32c(blob.bytes) }, blob])
          await t.rejects(store.writeNew(blob, streamOf(flipped(blob.bytes, at)), expected), {
            code: 'checksum_mismatch',
          })
    }
    t.strictSame(await store.list(null, 10), [])
  })

  t.test('takes the place of an earlier copy, good or damaged, alone and at the same moment', async (t) => {
    const bench = await makeBench(t)
    const blob = sampleBlob(1, 50_000)
    const writeNew = () => bench.store.writeNew(blob, streamOf(blob.bytes), blob)
    await bench.store.write(blob, streamOf(blob.bytes), blob)
    await Promise.all([writeNew(), bench.store.write(blob, streamOf(blob.bytes), blob), writeNew()])
    await bench.damage(blob)
    await writeNew()
    t.strictSame(await bench.store.verify(blob), { size: blob.size, checksum: blob.checksum })
    t.equal((await bench.store.list(null, 10)).length, 1)
  })

  t.test('refuses invalid names', async (t) => {
    const { store } = await makeBench(t)
    const { bytes, size, checksum } = sampleBlob(1)
    for (const name of HOSTILE_NAMES)
      await t.rejects(store.writeNew(name, streamOf(bytes), { size, checksum }), TypeError)
  })
}

async function readContract(t: Test, makeBench: (t: Test) => Promise<BlobStoreBench>): Promise<void> {
  t.test('returns exactly the requested range', async (t) => {
    const { store } = await makeBench(t)
    const blob = sampleBlob(7, 600_000)
    await store.write(blob, streamOf(blob.bytes), blob)
    for (const [start, end] of [
      [0, 0],
      [0, 1],
      [5, 5],
      [599_999, 600_000],
      [1, 599_999],
      [262_143, 262_145],
    ] as const) {
      const bytes = await collect(store.read(blob, start, end))
      t.ok(Buffer.from(bytes).equals(blob.bytes.subarray(start, end)), `[${start}, ${end})`)
    }
    for (const [start, end] of [
      [-1, 5],
      [6, 5],
      [0, 600_001],
    ] as const) {
      await t.rejects(collect(store.read(blob, start, end)), RangeError)
    }
  })

  t.test('throws BlobMissingError for a missing blob, at the first piece', async (t) => {
    const { store } = await makeBench(t)
    const stream = store.read(sampleBlob(1), 0, 10)
    await t.rejects(collect(stream), BlobMissingError)
  })

  t.test('can be abandoned in the middle', async (t) => {
    const { store } = await makeBench(t)
    const blob = sampleBlob(7, 1_200_000)
    await store.write(blob, streamOf(blob.bytes), blob)
    for await (const piece of store.read(blob, 0, blob.size)) {
      t.ok(piece.length > 0 && piece.length < blob.size, 'a blob comes in bounded pieces')
      break
    }
    t.equal((await collect(store.read(blob, 0, blob.size))).length, blob.size)
  })
}

async function damageContract(t: Test, makeBench: (t: Test) => Promise<BlobStoreBench>): Promise<void> {
  t.test('reports a flipped bit, and quarantines the copy without losing it to a later one', async (t) => {
    const bench = await makeBench(t)
    const blob = sampleBlob(3, 5000)
    await bench.store.write(blob, streamOf(blob.bytes), blob)
    await bench.damage(blob)
    await t.rejects(bench.store.verify(blob), BlobDamagedError)
    await bench.store.quarantine(blob)
    t.equal(await bench.store.stat(blob), null)
    await t.rejects(bench.store.verify(blob), BlobMissingError)
    await bench.store.quarantine(blob)
    await bench.store.write(blob, streamOf(blob.bytes), blob)
    t.equal(sha256(await collect(bench.store.read(blob, 0, blob.size))), blob.checksum)
  })

  t.test('does not report a missing blob as unchanged', async (t) => {
    const { store } = await makeBench(t)
    const [there, gone, never] = [sampleBlob(1, 600), sampleBlob(2, 600), sampleBlob(3, 600)]
    for (const blob of [there, gone]) await store.write(blob, streamOf(blob.bytes), blob)
    await store.areUnchanged([there, gone, never])
    await store.remove([gone])
    const unchanged = await store.areUnchanged([never, there, gone])
    t.strictSame([unchanged.length, unchanged[0], unchanged[2]], [3, false, false])
    t.strictSame(await store.areUnchanged([]), [])
  })

  t.test('returns null or throws BlobMissingError for a blob that never existed', async (t) => {
    const { store } = await makeBench(t)
    t.equal(await store.stat(sampleBlob(1)), null)
    await t.rejects(store.verify(sampleBlob(1)), BlobMissingError)
  })
}

async function listContract(t: Test, makeBench: (t: Test) => Promise<BlobStoreBench>): Promise<void> {
  t.test('lists every name once, in the order of id and birth, in pages of any size', async (t) => {
    const { store } = await makeBench(t)
    const blobs = Array.from({ length: 23 }, (_, seed) => sampleBlob(seed, 10))
    const shared = blobs[4]
    if (shared !== undefined)
      blobs.push({ ...shared, birth: 'another' }, { ...shared, id: shared.id.slice(0, 20) })
    for (const blob of blobs) await store.write(blob, streamOf(blob.bytes), blob)
    const names = blobs.map(({ id, birth }) => ({ id, birth }))
    names.sort((one, other) =>
      one.id === other.id ? (one.birth < other.birth ? -1 : 1) : one.id < other.id ? -1 : 1,
    )
    for (const limit of [1, 7, 100]) {
      const listed: BlobName[] = []
      for (
        let page = await store.list(null, limit);
        page.length > 0;
        page = await store.list(page.at(-1) ?? null, limit)
      ) {
        t.ok(page.length <= limit)
        listed.push(...page)
      }
      t.strictSame(listed, names)
    }
  })
}

async function removeContract(t: Test, makeBench: (t: Test) => Promise<BlobStoreBench>): Promise<void> {
  t.test('removes everything under the names, and nothing under others', async (t) => {
    const { store } = await makeBench(t)
    const blobs = Array.from({ length: 7 }, (_, seed) => sampleBlob(seed, seed * 300))
    for (const blob of blobs) await store.write(blob, streamOf(blob.bytes), blob)
    const [gone, kept] = [blobs.slice(0, 4), blobs.slice(4)]
    await store.remove(gone)
    for (const blob of gone) {
      t.equal(await store.stat(blob), null)
      await t.rejects(collect(store.read(blob, 0, 0)), BlobMissingError)
    }
    for (const blob of kept) t.equal((await store.verify(blob)).checksum, blob.checksum)
    t.equal((await store.list(null, 100)).length, kept.length)
  })

  t.test('accepts names that are absent, repeated or damaged, and an empty list', async (t) => {
    const bench = await makeBench(t)
    const [absent, damaged] = [sampleBlob(1), sampleBlob(2)]
    await bench.store.write(damaged, streamOf(damaged.bytes), damaged)
    await bench.damage(damaged)
    await bench.store.remove([])
    await bench.store.remove([absent, damaged, damaged, absent])
    t.strictSame(await bench.store.list(null, 10), [])
    await bench.store.write(damaged, streamOf(damaged.bytes), damaged)
    t.equal((await bench.store.verify(damaged)).checksum, damaged.checksum)
  })
}
