/**
 * A position in a large body is found without reading all rows before it. [docs/adr/0008-positions-in-large-bodies.md]
 */
import t from 'tap'
import { CHUNK_BYTES } from '../../src/content/chunk-slots.ts'
import { readContent } from '../../src/content/read-content.ts'
import { TenantKeys } from '../../src/content/tenant-keys.ts'
import type { ChunkLink } from '../../src/state-machine/chunks/records.ts'
import type { ObjectRecord } from '../../src/state-machine/versions/records.ts'
import { collected } from '../helpers/async.ts'
import { contentRows, ContentWorld, patternBytes } from '../helpers/content-world.ts'
import { MemoryBlobs } from '../helpers/memory-blobs.ts'
import { LINKS_PER_PAGE } from '../../src/state-machine/bodies/manifests.ts'

const TIB = 2 ** 40

t.test('a read of one byte of an object of 5 TiB', async (t) => {
  const world = new ContentWorld()
  const small = await world.put(patternBytes(5000))
  const count = (5 * TIB) / CHUNK_BYTES
  const object: ObjectRecord = { ...small, size: 5 * TIB, body: { kind: 'chunks', count } }
  for (const at of [0, 3 * TIB + 12_345, 5 * TIB - 1]) {
    const rowsRead: (readonly [kind: string, place: number])[] = []
    const parts = {
      tenantId: 'acme',
      bucketId: 'bucket-1',
      object,
      blobs: new MemoryBlobs(),
      pinned: {},
      readBarrier: async () => undefined,
      keys: () => TenantKeys.fromBytes(Buffer.alloc(32, 1), Buffer.alloc(32, 2)),
      state: contentRows({
        chunk: (id) => void rowsRead.push(['chunk', Number(id)]),
        links: (_version, page) => {
          rowsRead.push(['manifest page', page])
          return Array.from({ length: LINKS_PER_PAGE }, (_, n): ChunkLink => {
            return { id: String(page * LINKS_PER_PAGE + n), size: CHUNK_BYTES }
          })
        },
      }),
    }
    // The chunk does not exist, which the read finds after it has read the manifest.
    await t.rejects(collected(readContent(parts, { start: at, end: at + 1 })), { code: 'slow_down' })
    const link = Math.floor(at / CHUNK_BYTES)
    t.strictSame(
      rowsRead,
      [
        ['manifest page', Math.floor(link / LINKS_PER_PAGE)],
        ['chunk', link],
      ],
      `byte ${at}`,
    )
  }
})

t.test('a read across pages of the manifest', async (t) => {
  const world = new ContentWorld()
  const plain = patternBytes(CHUNK_BYTES)
  const one = await world.put(plain)
  const [link] = world.manifests.get(one.versionId) ?? []
  if (link === undefined) return t.fail('no chunk')
  // The same chunk 2,100 times: three pages, 8 GiB.
  const count = 2100
  world.manifests.set(
    'large',
    Array.from({ length: count }, () => link),
  )
  const size = count * CHUNK_BYTES
  const object: ObjectRecord = { ...one, versionId: 'large', size, body: { kind: 'chunks', count } }
  for (const edge of [1, 1023, 1024, 2048, 2099]) {
    const at = edge * CHUNK_BYTES
    const expected = Buffer.concat([plain.subarray(-7), plain.subarray(0, 9)])
    t.ok((await world.get(object, at - 7, at + 9)).equals(expected), `around chunk ${edge}`)
  }
  t.ok((await world.get(object, size - 5, size)).equals(plain.subarray(-5)), 'the last bytes')
  t.equal((await world.get(object, size, size)).length, 0)
})
