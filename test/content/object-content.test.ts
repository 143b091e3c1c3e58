/**
 * ObjectContent over memory: reads return the uploaded bytes, and every faulty upload is refused.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import type { BlobToWrite, WrittenBlob } from '../../cluster/index.ts'
import { parseClaims } from '../../src/content/checksums.ts'
import { CHUNK_BYTES } from '../../src/content/chunk-slots.ts'
import { FRAME_BYTES } from '../../src/content/frame-cipher.ts'
import { deferred } from '../helpers/async.ts'
import { ContentWorld, inPieces, patternBytes, TEST_LIMITS, testTenant } from '../helpers/content-world.ts'
import { MemoryBlobs } from '../helpers/memory-blobs.ts'

const INLINE_MAX = TEST_LIMITS.inlineBytesMax

/** A source that waits until the test continues it; for events in the middle of an upload. */
function stallingSource(first: Uint8Array) {
  const { promise: reached, resolve: reach } = deferred()
  async function* source(): AsyncGenerator<Uint8Array> {
    yield first
    reach()
    await new Promise(() => {})
  }
  return { source: source(), reached }
}

t.test('ingest and read', async (t) => {
  t.test('return the bytes for sizes at every boundary', async (t) => {
    const world = new ContentWorld()
    const edges = [0, 1, INLINE_MAX, INLINE_MAX + 1]
    edges.push(FRAME_BYTES - 1, FRAME_BYTES, FRAME_BYTES + 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1)
    for (const size of [...edges, 2 * CHUNK_BYTES + 12_345]) {
      const plain = patternBytes(size, size + 1)
      const object = await world.put(plain, 100_000)
      const kind = size === 0 ? 'empty' : size <= INLINE_MAX ? 'inline' : 'chunks'
      t.equal(object.body.kind, kind, `${size} bytes are ${kind}`)
      t.equal(object.size, size)
      t.ok((await world.get(object)).equals(plain), `${size} bytes come back`)
    }
    t.equal(world.content.chunksHeld, 0)
    t.equal(world.content.memory.bytes, 0)
  })

  t.test('seal the chunks of a body into the memory of the chunks before', async (t) => {
    const memory = new Set<ArrayBufferLike>()
    class WatchedBlobs extends MemoryBlobs {
      override write(blob: BlobToWrite): Promise<WrittenBlob> {
        memory.add(blob.bytes.buffer)
        return super.write(blob)
      }
    }
    const world = new ContentWorld({ blobs: new WatchedBlobs() })
    const plain = patternBytes(8 * CHUNK_BYTES, 7)
    t.ok((await world.get(await world.put(plain, 1_000_000))).equals(plain))
    t.ok(memory.size <= 3, `${memory.size} pieces of memory for 8 chunks, two at a time`)
  })

  t.test('count a download from its first piece to its end, however it ends', async (t) => {
    const world = new ContentWorld()
    const object = await world.put(patternBytes(CHUNK_BYTES + 100))
    const begin = async () => {
      const pieces = world.read(object)[Symbol.asyncIterator]()
      await pieces.next()
      return pieces
    }
    const [whole, left, broken] = [await begin(), await begin(), await begin()]
    t.equal(world.downloads.underWay, 3)
    await left.return?.()
    t.equal(world.downloads.underWay, 2)
    while ((await whole.next()).done !== true);
    t.equal(world.downloads.underWay, 1)
    for (const node of ['n1', 'n2', 'n3']) world.blobs.failAfter(node, 0, new Error('away'))
    await t.rejects(async () => {
      while ((await broken.next()).done !== true);
    })
    t.equal(world.downloads.underWay, 0)
  })

  t.test('give the same ranges as Buffer.subarray, from inline bodies and across chunks', async () => {
    const world = new ContentWorld()
    const small = patternBytes(INLINE_MAX - 3)
    const large = patternBytes(2 * CHUNK_BYTES + 777)
    const bodies = [
      { plain: small, object: await world.put(small) },
      { plain: large, object: await world.put(large) },
    ]
    const edge = fc.constantFrom(0, FRAME_BYTES, CHUNK_BYTES, 2 * CHUNK_BYTES)
    const position = fc
      .tuple(edge, fc.integer({ min: -2, max: 70_000 }))
      .map(([at, off]) => Math.max(0, at + off))
    const property = fc.asyncProperty(
      fc.constantFrom(...bodies),
      position,
      fc.oneof(fc.nat(100), fc.nat(200_000)),
      fc.constantFrom(1000, 65_536, 1_000_000),
      async ({ plain, object }, at, length, pieceBytes) => {
        world.blobs.pieceBytes = pieceBytes
        const start = Math.min(at, plain.length)
        const end = Math.min(start + length, plain.length)
        if (object.body.kind === 'inline')
          assert.deepEqual(world.atHand(object, start, end), plain.subarray(start, end))
        return (await world.get(object, start, end)).equals(plain.subarray(start, end))
      },
    )
    await fc.assert(property, { numRuns: 60, seed: 5 })
  })

  t.test('read only the frames that a range needs', async (t) => {
    const world = new ContentWorld()
    const object = await world.put(patternBytes(CHUNK_BYTES + 10))
    world.blobs.pieceBytes = 1
    for (const node of ['n1', 'n2', 'n3'])
      world.blobs.failAfter(node, FRAME_BYTES + 16, new Error('read too far'))
    t.equal((await world.get(object, 10, 20)).length, 10)
    t.equal((await world.get(object, 7 * FRAME_BYTES, 8 * FRAME_BYTES)).length, FRAME_BYTES)
  })

  t.test('yield the bytes before the object is replaced, then ask for a retry', async (t) => {
    const world = new ContentWorld()
    const object = await world.put(patternBytes(2 * CHUNK_BYTES))
    const pieces = world.read(object)[Symbol.asyncIterator]()
    await pieces.next()
    world.chunks.clear()
    await t.rejects(
      (async () => {
        while ((await pieces.next()).done !== true);
      })(),
      { code: 'slow_down' },
    )
    world.manifests.clear()
    await t.rejects(world.get(object), { code: 'slow_down' })
    const inline = await world.put(Buffer.from('x'))
    world.inline.clear()
    await t.rejects(world.get(inline), { code: 'slow_down' })
    t.throws(() => world.atHand(inline), { code: 'slow_down' })
  })
})

t.test('etags and chunk ids', async (t) => {
  t.test('are equal for equal bytes in any pieces, and differ between tenants', async (t) => {
    const plain = patternBytes(CHUNK_BYTES + 5)
    const world = new ContentWorld()
    const one = await world.ingest(inPieces(plain, 1_000))
    const two = await world.ingest(inPieces(plain, 3_000_000))
    t.equal(one.etag, two.etag)
    t.match(one.etag, /^[0-9a-f]{32}-1$/)
    const elsewhere = await new ContentWorld({ tenant: testTenant('other') }).ingest(inPieces(plain, 65_536))
    t.not(elsewhere.etag, one.etag)
  })

  t.test('do not depend on whether the body is inline', async (t) => {
    const plain = patternBytes(1000)
    const tenant = testTenant()
    const inline = await new ContentWorld({ tenant }).ingest(inPieces(plain, 100))
    const chunked = await new ContentWorld({ tenant, limits: { inlineBytesMax: 10 } }).ingest(
      inPieces(plain, 100),
    )
    t.equal(inline.body.kind, 'inline')
    t.equal(chunked.body.kind, 'chunks')
    t.equal(inline.etag, chunked.etag)
  })
})

t.test('deduplication', async (t) => {
  t.test('names an existing chunk instead of placing it again, when it has enough copies', async (t) => {
    const world = new ContentWorld()
    const plain = patternBytes(CHUNK_BYTES + 5)
    world.commit(await world.ingest(inPieces(plain, 65_536)))
    t.equal(world.blobs.written.length, 2)
    const again = await world.ingest(inPieces(plain, 65_536))
    t.equal(world.blobs.written.length, 2)
    t.match(again.body, {
      kind: 'chunks',
      chunks: [{ existing: true, replicas: [], missing: [] }, { existing: true }],
    })
  })

  t.test(
    'uploads under a birth of its own when an existing chunk has too few copies for an acknowledgement',
    async (t) => {
      const world = new ContentWorld()
      const plain = patternBytes(CHUNK_BYTES)
      const first = await world.ingest(inPieces(plain, 65_536))
      world.commit(first)
      for (const [id, row] of world.chunks) world.chunks.set(id, { ...row, replicas: ['n3'] })
      const again = await world.ingest(inPieces(plain, 65_536))
      const [one, two] = world.blobs.written
      t.equal(two?.id, one?.id)
      t.not(two?.birth, one?.birth, 'no copy is written under the birth of a row without a task')
      t.match(again.body, { chunks: [{ existing: false, birth: two?.birth, replicas: ['n1', 'n2', 'n3'] }] })
    },
  )

  t.test('uploads a condemned chunk again, because it may be collected before the commit', async (t) => {
    const world = new ContentWorld()
    const plain = patternBytes(CHUNK_BYTES)
    world.commit(await world.ingest(inPieces(plain, 65_536)))
    for (const [id, row] of world.chunks) world.chunks.set(id, { ...row, references: 0, condemnedAt: 7 })
    t.match((await world.ingest(inPieces(plain, 65_536))).body, { chunks: [{ existing: false }] })
    t.equal(world.blobs.written.length, 2)
  })

  t.test('stays open until its caller reports the outcome, and ends at once if it fails', async (t) => {
    const world = new ContentWorld()
    const { end } = await world.ingest(inPieces(patternBytes(CHUNK_BYTES), 65_536))
    t.strictSame(world.ends, [])
    end('unknown')
    t.strictSame(world.ends, ['unknown'])
    await t.rejects(world.ingest(inPieces(patternBytes(CHUNK_BYTES), 65_536), { expectedSize: 1 }))
    const claimed = parseClaims([['SHA256', Buffer.alloc(32).toString('base64')]])
    await t.rejects(world.ingest(inPieces(patternBytes(CHUNK_BYTES), 65_536), { claimed }))
    t.strictSame(world.ends, ['unknown', 'known'], 'one was refused before it started')
  })

  t.test('places a chunk that repeats within one body once, under one birth', async (t) => {
    const world = new ContentWorld()
    const plain = Buffer.alloc(5 * CHUNK_BYTES, 9)
    const object = await world.put(plain)
    t.equal(world.blobs.written.length, 1)
    t.strictSame(object.body, { kind: 'chunks', count: 5 })
    t.ok((await world.get(object)).equals(plain))
  })
})

t.test('ingest refuses', async (t) => {
  const bodies = [patternBytes(100), patternBytes(CHUNK_BYTES + 100)]

  t.test('with checksum_mismatch and without a body when a claim is wrong', async (t) => {
    for (const plain of bodies) {
      const world = new ContentWorld()
      const claimed = parseClaims([['SHA256', Buffer.alloc(32).toString('base64')]])
      await t.rejects(world.ingest(inPieces(plain, 50_000), { claimed }), { code: 'checksum_mismatch' })
      t.equal(world.content.chunksHeld, 0)
      t.equal(world.content.memory.bytes, 0)
    }
  })

  t.test('with invalid_request when the body is shorter or longer than announced', async (t) => {
    for (const plain of bodies) {
      const world = new ContentWorld()
      for (const expectedSize of [plain.length - 1, plain.length + 1, 0]) {
        await t.rejects(world.ingest(inPieces(plain, 50_000), { expectedSize }), { code: 'invalid_request' })
      }
      t.equal(
        (await world.ingest(inPieces(plain, 50_000), { expectedSize: plain.length })).size,
        plain.length,
      )
    }
  })

  t.test(
    'with entity_too_large, before reading if the size is announced, otherwise while streaming',
    async (t) => {
      const world = new ContentWorld()
      let read = 0
      async function* endless(): AsyncGenerator<Uint8Array> {
        for (;;) {
          read += 100_000
          yield Buffer.alloc(100_000, read)
        }
      }
      await t.rejects(world.ingest(endless(), { expectedSize: 11, sizeMax: 10 }), {
        code: 'entity_too_large',
      })
      t.equal(read, 0)
      await t.rejects(world.ingest(endless(), { sizeMax: CHUNK_BYTES }), { code: 'entity_too_large' })
      t.equal(read, 4_200_000)
    },
  )

  t.test('to continue when the client disconnects, and releases its slots', async (t) => {
    for (const first of [Buffer.alloc(10), patternBytes(100_000), patternBytes(CHUNK_BYTES + 1)]) {
      const world = new ContentWorld()
      const controller = new AbortController()
      const { source, reached } = stallingSource(first)
      const upload = world.ingest(source, { signal: controller.signal })
      await reached
      controller.abort(new Error('client gone'))
      await t.rejects(upload, { message: 'client gone' })
      t.equal(world.content.chunksHeld, 0)
      t.equal(world.content.memory.bytes, 0)
    }
  })

  t.test('with the error of the source', async (t) => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield patternBytes(CHUNK_BYTES + 1)
      throw new Error('connection reset')
    }
    const world = new ContentWorld()
    await t.rejects(world.ingest(broken()), { message: 'connection reset' })
    t.equal(world.content.chunksHeld, 0)
    t.equal(world.content.memory.bytes, 0)
  })

  t.test('with the error of the store, at once, while the client is still sending', async (t) => {
    const world = new ContentWorld()
    world.blobs.beforeWrite = async () => {
      throw new Error('disk full')
    }
    const { source } = stallingSource(patternBytes(CHUNK_BYTES + 1))
    await t.rejects(world.ingest(source), { message: 'disk full' })
    t.equal(world.content.chunksHeld, 0)
    t.equal(world.content.memory.bytes, 0)
  })

  t.test('without closing the source, which may be the socket of the response', async (t) => {
    let closed = false
    async function* watched(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield Buffer.alloc(100)
      } finally {
        closed = true
      }
    }
    await t.rejects(new ContentWorld().ingest(watched(), { sizeMax: 1000 }), { code: 'entity_too_large' })
    t.notOk(closed)
  })
})

t.test('memory', async (t) => {
  t.test('stays at two chunks for a stream of 512 MiB, even with a slow store', async (t) => {
    const blobs = new MemoryBlobs({ forget: true })
    const world = new ContentWorld({ blobs, limits: { chunkBuffersMax: 8 } })
    // The store answers a turn later than the source, so an upload that does not wait would run ahead of it.
    blobs.beforeWrite = () => new Promise((resolve) => setImmediate(resolve))
    const pieces = 512 * 16
    const piece = patternBytes(FRAME_BYTES)
    let heldMax = 0
    async function* stream(): AsyncGenerator<Uint8Array> {
      for (let count = 0; count < pieces; count += 1) {
        piece.writeUInt32BE(count)
        heldMax = Math.max(heldMax, world.content.chunksHeld)
        yield piece
      }
    }
    const { size, body } = await world.ingest(stream())
    t.equal(size, 512 * 1024 * 1024)
    t.match(body, { kind: 'chunks', chunks: { length: 128 } })
    t.equal(heldMax, 2, 'one filling while one is placed')
  })

  t.test('of all uploads together is bounded, and waiting uploads do not read', async (t) => {
    const blobs = new MemoryBlobs({ forget: true })
    const world = new ContentWorld({ blobs, limits: { chunkBuffersMax: 3 } })
    const { promise: gate, resolve: open } = deferred()
    const { promise: full, resolve: isFull } = deferred()
    blobs.beforeWrite = () => {
      if (blobs.writesNow === 3) isFull()
      return gate
    }
    const read = Array.from({ length: 6 }, () => 0)
    const uploads = read.map((_, who) => {
      async function* stream(): AsyncGenerator<Uint8Array> {
        for (let count = 0; count < 3; count += 1) {
          read[who] = (read[who] ?? 0) + 1
          yield patternBytes(CHUNK_BYTES, who * 10 + count + 1)
        }
      }
      return world.ingest(stream())
    })
    await full
    t.equal(world.content.chunksHeld, 3)
    t.ok(
      read.every((pieces) => pieces <= 3),
      'no upload reads past its present piece',
    )
    t.ok(
      read.filter((pieces) => pieces <= 1).length >= 3,
      'uploads without a slot hold their first piece and wait',
    )
    open()
    await Promise.all(uploads)
    t.equal(blobs.writesPeak, 3)
    t.equal(blobs.written.length, 18)
    t.equal(world.content.chunksHeld, 0)
    t.equal(world.content.memory.bytes, 0)
  })
})
