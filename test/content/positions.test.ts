/**
 * A position in a large body is found without walking to it. [docs/adr/0008-positions-in-large-bodies.md]
 */
import t from 'tap'
import { CHUNK_BYTES } from '../../src/content/chunk-slots.ts'
import { readContent } from '../../src/content/read-content.ts'
import { TenantKeys } from '../../src/content/tenant-keys.ts'
import type { ChunkLink } from '../../src/state-machine/chunks/records.ts'
import type { ObjectRecord } from '../../src/state-machine/versions/records.ts'
import { collected } from '../helpers/async.ts'
import { ContentWorld, patternBytes } from '../helpers/content-world.ts'
import { MemoryBlobs } from '../helpers/memory-blobs.ts'

const TIB = 2 ** 40

t.test('a read of one byte of an object of 5 TiB', async (t) => {
  const world = new ContentWorld()
  const small = await world.put(patternBytes(5000))
  const count = (5 * TIB) / CHUNK_BYTES
  const object: ObjectRecord = { ...small, size: 5 * TIB, body: { kind: 'chunks', count } }
  for (const at of [0, 3 * TIB + 12_345, 5 * TIB - 1]) {
    const asked: (readonly [first: number, count: number])[] = []
    const parts = {
      tenantId: 'acme',
      bucketId: 'bucket-1',
      object,
      blobs: new MemoryBlobs(),
      pinned: {},
      keys: TenantKeys.fromBytes(Buffer.alloc(32, 1), Buffer.alloc(32, 2)),
      state: {
        inlineBody: () => undefined,
        chunk: () => undefined,
        objectParts: () => [],
        manifest: (_bucket: string, _version: string, first: number, wanted: number) => {
          asked.push([first, wanted])
          return Array.from({ length: wanted }, (): ChunkLink => ({ id: 'ab', size: CHUNK_BYTES }))
        },
      },
    }
    // There is no such chunk, which is found out after the manifest was asked.
    await t.rejects(collected(readContent(parts, { start: at, end: at + 1 })), { code: 'slow_down' })
    t.strictSame(asked, [[Math.floor(at / CHUNK_BYTES), 1]], `byte ${at}`)
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
