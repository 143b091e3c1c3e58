/**
 * Objects assembled from parts are read as one piece, for any kinds of parts and any range.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { CHUNK_BYTES } from '../../src/content/chunk-slots.ts'
import { readContent } from '../../src/content/read-content.ts'
import { TenantKeys } from '../../src/content/tenant-keys.ts'
import { PARTS_PER_PAGE } from '../../src/state-machine/bodies/bodies.ts'
import type { ObjectPart } from '../../src/state-machine/bodies/records.ts'
import type { ChunkLink } from '../../src/state-machine/chunks/records.ts'
import type { ObjectRecord } from '../../src/state-machine/versions/records.ts'
import { collected } from '../helpers/async.ts'
import { contentRows, ContentWorld, patternBytes } from '../helpers/content-world.ts'
import { MemoryBlobs } from '../helpers/memory-blobs.ts'
import { LINKS_PER_PAGE } from '../../src/state-machine/bodies/manifests.ts'

const GIB = 2 ** 30

async function assembled(world: ContentWorld, sizes: readonly number[]) {
  const plains = sizes.map((size, n) => patternBytes(size, n + 1))
  const pieces: ObjectRecord[] = []
  for (const plain of plains) pieces.push(await world.put(plain))
  return { plain: Buffer.concat(plains), object: world.assemble(pieces), pieces }
}

t.test('any range equals the result of Buffer.subarray, across parts of every kind', async (t) => {
  const world = new ContentWorld()
  // Chunks, exactly one chunk, one byte, inline, empty, and an inline end.
  const sizes = [CHUNK_BYTES + 5000, CHUNK_BYTES, 1, 2048, 0, 3000, 700]
  const { plain, object } = await assembled(world, sizes)
  const borders = sizes.map((_, n) => sizes.slice(0, n + 1).reduce((sum, size) => sum + size, 0))
  const position = fc
    .tuple(fc.constantFrom(0, CHUNK_BYTES, ...borders), fc.integer({ min: -3, max: 3000 }))
    .map(([at, off]) => Math.min(plain.length, Math.max(0, at + off)))
  const property = fc.asyncProperty(position, fc.oneof(fc.nat(10), fc.nat(20_000)), async (at, length) => {
    const end = Math.min(plain.length, at + length)
    assert.ok((await world.get(object, at, end)).equals(plain.subarray(at, end)), `${at}..${end}`)
  })
  await fc.assert(property, { numRuns: 150, seed: 7 })
  t.ok((await world.get(object)).equals(plain), 'and the whole')
  const none = await assembled(world, [0])
  t.equal((await world.get(none.object)).length, 0)
})

t.test(
  'of ten thousand parts only the pages with the range are read, if their starts are known',
  async (t) => {
    const world = new ContentWorld()
    const plain = patternBytes(40)
    const piece = await world.put(plain)
    const object = world.assemble(Array.from({ length: 10_000 }, () => piece))
    t.equal(object.size, 400_000)
    const pageStarts = Array.from({ length: 9 }, (_, page) => (page + 1) * PARTS_PER_PAGE * 40)
    const placed: ObjectRecord = { ...object, body: { kind: 'parts', count: 10_000, pageStarts } }
    const pages: number[] = []
    const counting = contentRows({
      parts: (version, page) => {
        pages.push(page)
        const from = page * PARTS_PER_PAGE
        return (world.parts.get(version) ?? []).slice(from, from + PARTS_PER_PAGE)
      },
    })
    for (const part of [0, 999, 1000, 5500, 9999]) {
      pages.length = 0
      const [at, end] = [part * 40 + 30, Math.min(object.size, part * 40 + 50)]
      const bytes = await world.get(object, at, end)
      t.ok(bytes.equals(Buffer.concat([plain.subarray(30), plain]).subarray(0, end - at)), `at part ${part}`)
      await t.rejects(
        collected(readContent({ ...readParts(world, object), state: counting }, { start: at, end: at + 1 })),
      )
      const page = Math.floor(part / PARTS_PER_PAGE)
      t.strictSame(
        pages,
        Array.from({ length: page + 1 }, (_, before) => before),
        'page by page if not',
      )
      pages.length = 0
      t.ok((await world.get(placed, at, end)).equals(bytes))
      await t.rejects(
        collected(readContent({ ...readParts(world, placed), state: counting }, { start: at, end: at + 1 })),
      )
      t.strictSame(pages, [page])
      pages.length = 0
      const first = { start: page * PARTS_PER_PAGE * 40, end: page * PARTS_PER_PAGE * 40 + 1 }
      await t.rejects(collected(readContent({ ...readParts(world, placed), state: counting }, first)))
      t.strictSame(pages, [page], 'its first byte')
    }
  },
)

t.test('a position beyond 2^32 is found in its part, up to the largest object', async (t) => {
  const world = new ContentWorld()
  const small = await world.put(patternBytes(5000))
  const size = 5 * GIB
  const partCount = 10_000
  const body = { kind: 'chunks', count: size / CHUNK_BYTES } as const
  const object: ObjectRecord = { ...small, size: partCount * size, body: { kind: 'parts', count: partCount } }
  for (const at of [0, size - 1, size, 4 * GIB + 7, 3333 * size + 2 ** 32 + 12_345, partCount * size - 1]) {
    const rowsRead: (readonly [kind: string, name: string, place: number])[] = []
    const state = contentRows({
      chunk: (id) => void rowsRead.push(['chunk', ...placeOf(id)]),
      parts: (_version, page) =>
        Array.from({ length: PARTS_PER_PAGE }, (_, n): ObjectPart => {
          return { partId: `part-${page * PARTS_PER_PAGE + n}`, size, body }
        }),
      links: (part, page) => {
        rowsRead.push(['manifest page', part, page])
        return Array.from({ length: LINKS_PER_PAGE }, (_, n): ChunkLink => {
          return { id: `${part}/${page * LINKS_PER_PAGE + n}`, size: CHUNK_BYTES }
        })
      },
    })
    // The chunk does not exist, which the read finds after it has read the manifest.
    const reading = readContent({ ...readParts(world, object), state }, { start: at, end: at + 1 })
    await t.rejects(collected(reading), { code: 'slow_down' })
    const within = at % size
    const [part, link] = [`part-${Math.floor(at / size)}`, Math.floor(within / CHUNK_BYTES)]
    t.strictSame(
      rowsRead,
      [
        ['manifest page', part, Math.floor(link / LINKS_PER_PAGE)],
        ['chunk', part, link],
      ],
      `byte ${at}`,
    )
  }
})

t.test(
  'a read of an object that is replaced meanwhile ends in a request to retry, never in other bytes',
  async (t) => {
    const sizes = [CHUNK_BYTES + 1, 500, 2 * CHUNK_BYTES]
    const after: readonly (readonly [
      string,
      (world: ContentWorld, id: string, pieces: readonly ObjectRecord[]) => void,
    ])[] = [
      ['its page is gone', (world, id) => void world.parts.delete(id)],
      [
        'its last part is gone',
        (world, id) => void world.parts.set(id, (world.parts.get(id) ?? []).slice(0, -1)),
      ],
      ['an inline part is gone', (world, _, [, inline]) => void world.inline.delete(inline?.versionId ?? '')],
      ['a manifest is gone', (world, _, [, , last]) => void world.manifests.delete(last?.versionId ?? '')],
      [
        'the end of its last part is gone',
        (world, id, [, , last]) => {
          const parts = world.parts.get(id) ?? []
          const shortened = parts.map((part) =>
            part.partId === last?.versionId ? { ...part, body: SHORTENED } : part,
          )
          world.parts.set(id, shortened)
        },
      ],
    ]
    for (const [what, change] of after) {
      const world = new ContentWorld()
      const { plain, object, pieces } = await assembled(world, sizes)
      const start = CHUNK_BYTES - 100
      change(world, object.versionId, pieces)
      const got: Uint8Array[] = []
      const reading = async (): Promise<void> => {
        for await (const piece of world.read(object, start)) got.push(piece)
      }
      await t.rejects(reading(), { code: 'slow_down' }, what)
      const bytes = Buffer.concat(got)
      t.ok(bytes.equals(plain.subarray(start, start + bytes.length)), `${what}: the bytes before are right`)
      t.ok(bytes.length < plain.length - start)
    }
  },
)

function placeOf(id: string): readonly [part: string, link: number] {
  const [part = '', link = ''] = id.split('/')
  return [part, Number(link)]
}

const SHORTENED = { kind: 'chunks', count: 1 } as const

function readParts(world: ContentWorld, object: ObjectRecord) {
  return {
    tenantId: 'acme',
    bucketId: 'bucket-1',
    object,
    blobs: new MemoryBlobs(),
    pinned: {},
    readBarrier: async () => undefined,
    keys: () => TenantKeys.fromBytes(Buffer.alloc(32, 1), Buffer.alloc(32, 2)),
    state: contentRows({ parts: (version) => world.parts.get(version) }),
  }
}
