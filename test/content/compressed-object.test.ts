/**
 * Objects that zstd makes smaller, through the whole pipeline: ranges, damage, deduplication, other settings on other nodes.
 */
import fc from 'fast-check'
import t from 'tap'
import { CHUNK_BYTES } from '../../src/content/chunk-slots.ts'
import { FRAME_BYTES } from '../../src/content/frame-cipher.ts'
import { compressionOf, sealedSizeOf } from '../../src/content/sealing.ts'
import { ContentWorld, inPieces, patternBytes } from '../helpers/content-world.ts'

/** Distinct numbers, so that every frame differs and all of them compress. */
function numbers(size: number, from = 0): Buffer {
  const lines = Array.from({ length: Math.ceil(size / 24) }, (_, i) =>
    `object number ${from + i}`.padEnd(24, '.'),
  )
  return Buffer.from(lines.join('')).subarray(0, size)
}

function rowsOf(world: ContentWorld) {
  return [...world.chunks.values()]
}

t.test('a compressible object', async (t) => {
  t.test('is stored smaller and gives the same ranges as Buffer.subarray', async (t) => {
    const world = new ContentWorld()
    const plain = numbers(2 * CHUNK_BYTES + 100_000)
    const object = await world.put(plain)
    t.ok(rowsOf(world).every((row) => compressionOf(row) === 'zstd'))
    const property = fc.asyncProperty(fc.nat(plain.length), fc.nat(200_000), async (start, length) => {
      const end = Math.min(start + length, plain.length)
      return (await world.get(object, start, end)).equals(plain.subarray(start, end))
    })
    await fc.assert(property, { numRuns: 40, seed: 4 })
    t.ok((await world.get(object)).equals(plain))
  })

  t.test('is read by a range without the neighbouring frames', async (t) => {
    const world = new ContentWorld()
    const plain = numbers(CHUNK_BYTES)
    const object = await world.put(plain)
    world.blobs.pieceBytes = 100
    // A tenth of the chunk is more than its header and one frame of it, and far less than the whole.
    const tenth = Math.floor((rowsOf(world)[0]?.sealedSize ?? 0) / 10)
    for (const node of ['n1', 'n2', 'n3']) world.blobs.failAfter(node, tenth, new Error('read too far'))
    const start = 40 * FRAME_BYTES + 5
    t.ok((await world.get(object, start, start + 1000)).equals(plain.subarray(start, start + 1000)))
    await t.rejects(world.get(object), { code: 'not_enough_replicas' })
  })

  t.test('continues in mid-chunk on a good copy and reports damage, also in the header', async (t) => {
    const world = new ContentWorld()
    const plain = numbers(CHUNK_BYTES)
    const object = await world.put(plain)
    const [row] = rowsOf(world)
    if (row === undefined) return t.fail('no chunk')
    for (const [node, at] of [
      ['n1', 40],
      ['n2', Math.floor(row.sealedSize / 2)],
    ] as const) {
      const bytes = world.blobs.bytesOn(node, row)
      bytes[at] = (bytes[at] ?? 0) ^ 1
    }
    t.ok((await world.get(object)).equals(plain))
    t.match(world.blobs.reports, [
      { nodeId: 'n1', fault: 'damaged' },
      { nodeId: 'n2', fault: 'damaged' },
    ])
  })

  t.test('is the same chunk and has the same tag as one stored without compression', async (t) => {
    const plain = numbers(CHUNK_BYTES + 5)
    const on = new ContentWorld()
    const off = new ContentWorld({ tenant: on.tenant, compression: 'none' })
    const [one, two] = [await on.ingest(inPieces(plain, 65_536)), await off.ingest(inPieces(plain, 65_536))]
    t.equal(one.etag, two.etag)
    off.commit(two)
    const row = rowsOf(off)[0]
    t.equal(row?.sealedSize, sealedSizeOf(CHUNK_BYTES))
    on.commit(one)
    t.equal(rowsOf(on)[0]?.id, row?.id)
  })
})

t.test('a chunk with too few copies', async (t) => {
  t.test('is made again in the present format, regardless of the format in its row', async (t) => {
    const plain = numbers(CHUNK_BYTES)
    for (const [before, now] of [
      ['none', 'zstd'],
      ['zstd', 'none'],
    ] as const) {
      const old = new ContentWorld({ compression: before })
      const first = await old.ingest(inPieces(plain, 65_536))
      const world = new ContentWorld({ tenant: old.tenant, blobs: old.blobs, compression: now })
      world.commit(first)
      for (const [id, row] of world.chunks) world.chunks.set(id, { ...row, replicas: ['n3'] })
      const again = await world.ingest(inPieces(plain, 65_536))
      t.match(again.body, { chunks: [{ existing: false, replicas: ['n1', 'n2', 'n3'] }] })
      const [made] = again.body.kind === 'chunks' ? again.body.chunks : []
      t.equal(made && compressionOf(made), now)
    }
  })
})

t.test('an incompressible object', async (t) => {
  t.test('is stored in format 1', async (t) => {
    const world = new ContentWorld()
    await world.put(patternBytes(CHUNK_BYTES + 100_000))
    t.ok(rowsOf(world).every((row) => compressionOf(row) === 'none'))
  })
})
