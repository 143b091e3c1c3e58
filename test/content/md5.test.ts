/**
 * The MD5 of a body: the published vectors, threads that die, the same for every size and cut, as the etag and for a claim.
 */
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { type ClaimAlgorithm, parseClaims } from '../../src/content/checksums.ts'
import { CHUNK_BYTES } from '../../src/content/chunk-slots.ts'
import type { IngestRequest } from '../../src/content/content.ts'
import { HASHED_ON_THREAD_FROM_BYTES, Md5Pool, type Md5PoolOptions } from '../../src/content/md5-pool.ts'
import { Refusal } from '../../src/base/refusal.ts'
import { ContentWorld, inPieces, patternBytes, TEST_LIMITS } from '../helpers/content-world.ts'

const INLINE_MAX = TEST_LIMITS.inlineBytesMax
const hexOf = (bytes: Uint8Array): string => createHash('md5').update(bytes).digest('hex')
const rawOf = (bytes: Uint8Array): Buffer => createHash('md5').update(bytes).digest()
const claimOf = (digest: Uint8Array): ReadonlyMap<ClaimAlgorithm, Uint8Array> => new Map([['MD5', digest]])

/** In shared memory. */
function shared(bytes: Uint8Array): Buffer {
  const memory = Buffer.from(new SharedArrayBuffer(bytes.length))
  memory.set(bytes)
  return memory
}

function poolOf(t: Test, options: Partial<Md5PoolOptions> = {}): Md5Pool {
  const pool = new Md5Pool({ threads: 2, bodiesMax: 100, ...options })
  t.teardown(() => pool.close())
  return pool
}

/** A thread that dies at every piece that begins with a zero. */
function fragileWorker(t: Test): URL {
  const file = join(t.testdir({}), 'worker.mjs')
  writeFileSync(
    file,
    `import { parentPort } from 'node:worker_threads'
     parentPort.on('message', ({ type, body, frames }) => {
       if (type === 'forget') return
       if (frames?.[0][0] === 0) throw new Error('out of luck')
       parentPort.postMessage({ digest: type === 'digest' ? Buffer.from([body]) : null })
     })`,
  )
  return pathToFileURL(file)
}

t.test('Md5Pool', async (t) => {
  t.test('gives the digests of the test suite [RFC 1321 A.5]', async (t) => {
    const suite: readonly (readonly [text: string, hex: string])[] = [
      ['', 'd41d8cd98f00b204e9800998ecf8427e'],
      ['a', '0cc175b9c0f1b6a831c399e269772661'],
      ['abc', '900150983cd24fb0d6963f7d28e17f72'],
      ['message digest', 'f96b697d7cb7938d525a2f31aaf161d0'],
      ['abcdefghijklmnopqrstuvwxyz', 'c3fcd3d76192e4007dfb496cca67e13b'],
      ['12345678901234567890'.repeat(4), '57edf4a22be3c955ac49da2e2107b67a'],
    ]
    const pool = poolOf(t)
    for (const [text, hex] of suite) {
      const body = pool.begin()
      for (const byte of Buffer.from(text)) await body.update(Buffer.of(byte))
      t.equal((await body.digest()).toString('hex'), hex)
    }
    t.equal(pool.bodies, 0, 'small bodies take no thread')
  })

  t.test('keeps bodies apart, many of them on few threads', async (t) => {
    const pool = poolOf(t)
    const pieces = [1, 2, 3].map((seed) => shared(patternBytes(300_000, seed)))
    const bodies = Array.from({ length: 9 }, (_, n) => [...pieces.slice(n % 3), ...pieces.slice(0, n % 3)])
    const digests = await Promise.all(
      bodies.map(async (own) => {
        const body = pool.begin()
        for (const piece of own) void body.update(piece)
        const digest = await body.digest()
        body.end()
        body.end()
        return digest.toString('hex')
      }),
    )
    t.strictSame(
      digests,
      bodies.map((own) => hexOf(Buffer.concat(own))),
    )
    t.equal(pool.bodies, 0)
  })

  t.test('slow_down for the bodies of a thread that died, and for no others', async (t) => {
    const pool = poolOf(t, { workerFile: fragileWorker(t) })
    const [whole, dead] = [pool.begin(), pool.begin()]
    const large = (first: number): Buffer => shared(Buffer.alloc(HASHED_ON_THREAD_FROM_BYTES, first))
    await whole.update(large(1))
    await dead.update(large(1))
    const reports = await Promise.allSettled([dead.update(large(0)), dead.update(large(1)), dead.digest()])
    for (const report of reports) {
      const reason: unknown = report.status === 'rejected' ? report.reason : null
      t.match(reason, { code: 'slow_down', cause: { message: 'out of luck' } })
    }
    await t.rejects(dead.update(large(1)), { code: 'slow_down' }, 'it stays dead')
    await whole.update(large(1))
    t.strictSame([...(await whole.digest())], [1])
    for (const body of [whole, dead]) body.end()
    t.equal(pool.bodies, 0)
    await pool.begin().update(large(1))
  })

  t.test('slow_down beyond its bound of bodies, until one ends', async (t) => {
    const pool = poolOf(t, { threads: 1, bodiesMax: 2 })
    const large = shared(patternBytes(300_000))
    const [first, second, third] = [pool.begin(), pool.begin(), pool.begin()]
    await first.update(large)
    await second.update(large)
    await t.rejects(third.update(large), { code: 'slow_down' })
    first.end()
    await third.update(large)
  })

  t.test('answers what it was asked when it is closed, and refuses later bodies', async (t) => {
    const pool = poolOf(t, { threads: 1 })
    const body = pool.begin()
    const plain = shared(patternBytes(300_000))
    const asked = [body.update(plain), body.update(plain)]
    const digest = body.digest()
    await pool.close()
    await Promise.all(asked)
    t.equal((await digest).toString('hex'), hexOf(Buffer.concat([plain, plain])))
    await t.rejects(pool.begin().update(plain), { code: 'shutting_down' })
    await pool.close()
  })
})

t.test('ingest with etag md5', async (t) => {
  t.test(
    'gives the MD5 of the plain bytes for sizes at every boundary, and the content tag beside it',
    async (t) => {
      const world = new ContentWorld()
      t.teardown(() => world.content.close())
      const sizes = [
        0,
        1,
        INLINE_MAX,
        INLINE_MAX + 1,
        HASHED_ON_THREAD_FROM_BYTES - 1,
        HASHED_ON_THREAD_FROM_BYTES,
      ]
      sizes.push(CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES + 300_000)
      for (const size of sizes) {
        const plain = patternBytes(size, size + 1)
        const native = await world.ingest(inPieces(plain, 100_000))
        const s3 = await world.ingest(inPieces(plain, 70_001), { etag: 'md5' })
        t.equal(s3.etag, hexOf(plain), `${size} bytes`)
        t.equal(s3.contentTag, native.etag)
        t.equal(native.contentTag, native.etag)
        t.strictSame(s3.checksums, native.checksums, 'an MD5 is not kept')
        t.ok((await world.get(world.commit(s3))).equals(plain))
      }
      t.equal(world.content.memory.bytes, 0)
      t.equal(world.content.bodiesHashed, 0)
    },
  )

  t.test(
    'hashes in the order of the body, with known chunks among new ones and many bodies on few threads',
    async (t) => {
      const world = new ContentWorld({ limits: { chunkBuffersMax: 3 } })
      t.teardown(() => world.content.close())
      const chunk = (seed: number): Buffer => patternBytes(CHUNK_BYTES, seed)
      await world.put(Buffer.concat([chunk(1), chunk(2)]))
      const bodies = [
        [3, 1, 4, 2, 3],
        [1, 2],
        [2, 1, 5],
        [6, 6, 6],
      ].map((seeds, n) => Buffer.concat([...seeds.map(chunk), patternBytes(1000 * n)]))
      const all = await Promise.all(
        bodies.map((plain) => world.ingest(inPieces(plain, 500_000), { etag: 'md5' })),
      )
      t.strictSame(
        all.map(({ etag }) => etag),
        bodies.map(hexOf),
      )
      t.equal(world.content.chunksHeld, 0)
      t.equal(world.content.memory.bytes, 0)
      t.equal(world.content.bodiesHashed, 0)
    },
  )
})

t.test('a claimed MD5 is verified, whatever the etag, before or behind the body', async (t) => {
  const world = new ContentWorld()
  t.teardown(() => world.content.close())
  for (const size of [0, 100, 100_000, 2 * CHUNK_BYTES + 7]) {
    const plain = patternBytes(size, 9)
    const ways = (digest: Buffer): readonly Partial<IngestRequest>[] => [
      { claimed: claimOf(digest) },
      { claimed: claimOf(digest), etag: 'md5' },
      { trailing: { algorithms: ['MD5'], read: () => claimOf(digest) } },
      { trailing: { algorithms: ['MD5'], read: () => claimOf(digest) }, etag: 'md5' },
    ]
    for (const way of ways(rawOf(plain)))
      t.equal(
        (await world.ingest(inPieces(plain, 65_536), way)).etag.length,
        way.etag === 'md5' ? 32 : 34,
        `${size} bytes`,
      )
    for (const way of ways(rawOf(Buffer.from('other'))))
      await t.rejects(world.ingest(inPieces(plain, 65_536), way), {
        code: 'checksum_mismatch',
        message: /has MD5/,
      })
  }
  t.equal(world.content.memory.bytes, 0)
})

t.test('only a body whose MD5 is needed takes a thread', async (t) => {
  const world = new ContentWorld()
  t.teardown(() => world.content.close())
  const hashed = async (request: Partial<IngestRequest>): Promise<number> => {
    let most = 0
    async function* source(): AsyncGenerator<Uint8Array> {
      for await (const piece of inPieces(patternBytes(3 * CHUNK_BYTES, 5), CHUNK_BYTES)) {
        most = Math.max(most, world.content.bodiesHashed)
        yield piece
      }
    }
    await world.ingest(source(), request)
    return most
  }
  t.equal(await hashed({}), 0)
  t.equal(await hashed({ etag: 'content' }), 0)
  t.equal(await hashed({ etag: 'md5' }), 1)
})

t.test('trailing claims that throw leave nothing stored', async (t) => {
  const fault = new Refusal('invalid_request', 'The trailer does not carry the announced signature')
  const read = () => {
    throw fault
  }
  for (const size of [0, 100, CHUNK_BYTES + 1]) {
    const world = new ContentWorld()
    t.teardown(() => world.content.close())
    const plain = patternBytes(size)
    const trailing = { algorithms: ['CRC32'], read } as const
    const source = inPieces(plain, 65_536)
    await t.rejects(world.ingest(source, { trailing, expectedSize: size, etag: 'md5' }), fault)
    t.strictSame(world.ends, size > INLINE_MAX ? ['known'] : [], 'the upload has ended without a proposal')
    t.equal(world.content.chunksHeld, 0)
    t.equal(world.content.memory.bytes, 0)
    t.equal(world.content.bodiesHashed, 0)
  }
})

t.test('claims of kept digests are verified beside it', async (t) => {
  const world = new ContentWorld()
  t.teardown(() => world.content.close())
  const plain = patternBytes(CHUNK_BYTES + 10)
  const sha256 = createHash('sha256').update(plain).digest('base64')
  const claimed = new Map<ClaimAlgorithm, Uint8Array>([
    ...parseClaims([['SHA256', sha256]]),
    ...claimOf(rawOf(plain)),
  ])
  const stored = await world.ingest(inPieces(plain, 65_536), { claimed, etag: 'md5' })
  t.equal(stored.etag, hexOf(plain))
  t.strictSame(Object.keys(stored.checksums).sort(), ['CRC64NVME', 'SHA256'])
})
