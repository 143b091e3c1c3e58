/** Uploads of fast and slow clients beside each other: none waits for a slow one, and every end gives its memory back. */
import fc from 'fast-check'
import t from 'tap'
import { CHUNK_BYTES } from '../../src/content/chunk-slots.ts'
import { HEAD_BYTES } from '../../src/content/upload-memory.ts'
import { until } from '../helpers/async.ts'
import { ContentWorld, inPieces, patternBytes } from '../helpers/content-world.ts'
import { MemoryBlobs } from '../helpers/memory-blobs.ts'

const MIB = 1024 * 1024
const caller = (tenantId: string) => ({ tenantId, accessKeyId: 'AK', address: '127.0.0.1' })

/** Delivers these bytes, and then nothing until it is aborted. */
function slowBody(world: ContentWorld, bytes: Uint8Array, tenantId = 'evil') {
  const controller = new AbortController()
  async function* source(): AsyncGenerator<Uint8Array> {
    yield* inPieces(bytes, 60_000)
    await new Promise(() => undefined)
  }
  const upload = world.ingest(source(), { caller: caller(tenantId), signal: controller.signal })
  upload.catch(() => undefined)
  return { upload, leave: () => controller.abort(new Error('client gone')) }
}

t.test('slow bodies', async (t) => {
  t.test('hold little, and keep no other upload waiting', async (t) => {
    const world = new ContentWorld({ limits: { chunkBuffersMax: 3 } })
    const slow = Array.from({ length: 1000 }, (_, n) => slowBody(world, patternBytes(3000, n)))
    const plain = patternBytes(2 * CHUNK_BYTES + 100_000, 7)
    const object = await world.put(plain)
    t.ok((await world.get(object)).equals(plain))
    t.equal(world.content.memory.bytes, 1000 * 4096)
    t.equal(world.content.chunksHeld, 0, 'no slot waits for a client')
    for (const { leave } of slow) leave()
    await Promise.allSettled(slow.map(({ upload }) => upload))
    t.equal(world.content.memory.bytes, 0)
    t.equal(world.content.memory.oldestMs, 0)
  })

  t.test('give way with slow_down while others wait for memory, and give theirs back', async (t) => {
    let nowMs = 0
    const limits = { uploadMemoryBytesMax: 16 * MIB, contendedBytesPerSecondMin: 65_536 }
    const world = new ContentWorld({ limits, now: () => nowMs })
    const slow = Array.from({ length: 6 }, (_, n) => slowBody(world, patternBytes(3 * MIB, n)))
    const { memory } = world.content
    await until('their share is full', () => memory.bytes >= 12 * MIB)
    nowMs += 20_000
    const plain = patternBytes(2 * MIB, 9)
    const body = await world.ingest(inPieces(plain, 65_536), { caller: caller('evil') })
    t.equal(body.size, plain.length)
    const first: unknown = await Promise.race(
      slow.map(({ upload }) => upload.catch((error: unknown) => error)),
    )
    t.match(first, { code: 'slow_down', retryAfterMs: 10_000 })
    t.ok(memory.preempted > 0)
    for (const { leave } of slow) leave()
    await Promise.allSettled(slow.map(({ upload }) => upload))
    t.equal(memory.bytes, 0)
    t.equal(memory.waiting, 0)
  })

  t.test('are left alone while no upload waits', async (t) => {
    let nowMs = 0
    const world = new ContentWorld({ limits: { contendedBytesPerSecondMin: 65_536 }, now: () => nowMs })
    const { upload, leave } = slowBody(world, patternBytes(MIB))
    await until('it has arrived', () => world.content.memory.bytes >= MIB)
    nowMs += 3_600_000
    await world.put(patternBytes(CHUNK_BYTES, 3))
    t.equal(world.content.memory.preempted, 0)
    leave()
    await t.rejects(upload, { message: 'client gone' })
  })
})

t.test('more uploads than there is memory for all end well, within the bound', async (t) => {
  const blobs = new MemoryBlobs({ forget: true })
  const limits = { uploadMemoryBytesMax: 16 * MIB, contendedBytesPerSecondMin: 65_536 }
  const world = new ContentWorld({ blobs, limits })
  let most = 0
  async function* source(who: number): AsyncGenerator<Uint8Array> {
    for await (const piece of inPieces(patternBytes(CHUNK_BYTES + 500_000, who), 100_000)) {
      yield piece
      most = Math.max(most, world.content.memory.bytes)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const uploads = Array.from({ length: 24 }, (_, who) =>
    world.ingest(source(who), { caller: caller(`t${who % 3}`) }),
  )
  const sizes = (await Promise.all(uploads)).map(({ size }) => size)
  t.same(new Set(sizes), new Set([CHUNK_BYTES + 500_000]))
  t.ok(most > 8 * MIB && most <= 16 * MIB + HEAD_BYTES, `${most} bytes`)
  t.equal(world.content.memory.bytes, 0)
  await world.content.close()
})

t.test('the pieces in which a body comes do not matter', async (t) => {
  const world = new ContentWorld()
  const plain = patternBytes(CHUNK_BYTES + 70_001, 5)
  const whole = await world.ingest(inPieces(plain, plain.length))
  async function* cut(sizes: Iterator<number>): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < plain.length; ) {
      const end = at + Number(sizes.next().value)
      yield plain.subarray(at, end)
      at = end
    }
  }
  const size = fc.oneof(fc.integer({ min: 1, max: 3000 }), fc.integer({ min: 3000, max: 300_000 }))
  await fc.assert(
    fc.asyncProperty(fc.infiniteStream(size), async (sizes) => {
      const { etag, checksums } = await world.ingest(cut(sizes))
      t.equal(etag, whole.etag)
      t.same(checksums, whole.checksums)
    }),
    { numRuns: 15 },
  )
  t.equal(world.content.memory.bytes, 0)
})
