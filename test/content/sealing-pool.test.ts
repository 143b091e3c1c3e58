/**
 * The sealing threads: the same results as without them, in shared memory, and the death of a thread fails only its request.
 */
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { crc32c } from '@node-rs/crc32'
import { Condition } from '../../cluster/index.ts'
import { CHUNK_BYTES } from '../../src/content/chunk-slots.ts'
import { sealChunk } from '../../src/content/sealing.ts'
import { SealingPool } from '../../src/content/sealing-pool.ts'
import { TenantKeys } from '../../src/content/tenant-keys.ts'
import { ContentWorld, inPieces, patternBytes } from '../helpers/content-world.ts'

const KEYS = TenantKeys.fromBytes(Buffer.alloc(32, 1), Buffer.alloc(32, 3))

function shared(plain: Buffer): Buffer {
  const memory = Buffer.from(new SharedArrayBuffer(plain.length))
  plain.copy(memory)
  return memory
}

function poolOf(t: Test, options: Partial<ConstructorParameters<typeof SealingPool>[0]> = {}): SealingPool {
  const pool = new SealingPool({ threads: 2, jobsMax: 100, ...options })
  t.teardown(() => pool.close())
  return pool
}

/** A thread that dies at every chunk that begins with a zero, and answers all others with their first byte. */
function fragileWorker(t: Test): URL {
  const file = join(t.testdir({}), 'worker.mjs')
  writeFileSync(
    file,
    `import { parentPort } from 'node:worker_threads'
     parentPort.on('message', ({ frames }) => {
       const first = frames[0][0]
       if (first === 0) throw new Error('out of luck')
       parentPort.postMessage({ type: 'named', id: String(first) })
     })`,
  )
  return pathToFileURL(file)
}

t.test('SealingPool', async (t) => {
  t.test(
    'gives the same ids and bytes as the event loop, with many chunks at once on few threads',
    async (t) => {
      const pool = poolOf(t)
      const chunks = Array.from({ length: 12 }, (_, i) => shared(patternBytes(300_000 + i, i)))
      const prose = shared(Buffer.from('the same words again and again, '.repeat(20_000)))
      await Promise.all(
        [...chunks, prose, prose.subarray(100, 400_000)].map(async (plain) => {
          const id = await pool.nameOf(KEYS.secrets, plain)
          t.equal(id, KEYS.chunkIdOf(plain))
          for (const compression of ['none', 'zstd'] as const) {
            const given = await pool.seal(KEYS.secrets, { id, plain }, compression)
            const expected = sealChunk(KEYS, { id, plain: Buffer.from(plain) }, compression)
            t.ok(given.sealed.equals(expected.sealed))
            t.equal(given.checksum, createHash('sha256').update(given.sealed).digest('hex'))
            t.equal(given.crc32c, crc32c(given.sealed))
          }
        }),
      )
    },
  )

  t.test(
    'uses the memory of sealed bytes again once they are released, for one chunk at a time',
    async (t) => {
      const pool = poolOf(t)
      const sealedOf = async (seed: number): Promise<Buffer> => {
        const plain = shared(patternBytes(300_000, seed))
        return (await pool.seal(KEYS.secrets, { id: KEYS.chunkIdOf(plain), plain }, 'none')).sealed
      }
      const [one, other] = [await sealedOf(1), await sealedOf(2)]
      t.not(one.buffer, other.buffer)
      const kept = Buffer.from(other)
      pool.release(one)
      const third = await sealedOf(3)
      t.equal(third.buffer, one.buffer)
      pool.release(one)
      pool.release(third)
      pool.release(third)
      const later = await Promise.all([4, 5, 6].map(sealedOf))
      t.equal(
        new Set([other, ...later].map(({ buffer }) => buffer)).size,
        4,
        'a second release changes nothing',
      )
      t.ok(other.equals(kept))
    },
  )

  t.test('keeps the memory of four chunks', async (t) => {
    const pool = poolOf(t)
    const plain = shared(patternBytes(300_000, 1))
    const seal = () => pool.seal(KEYS.secrets, { id: KEYS.chunkIdOf(plain), plain }, 'none')
    const first = await Promise.all(Array.from({ length: 6 }, seal))
    for (const { sealed } of first) pool.release(sealed)
    const second = await Promise.all(Array.from({ length: 6 }, seal))
    const before = new Set(first.map(({ sealed }) => sealed.buffer))
    t.equal(second.filter(({ sealed }) => before.has(sealed.buffer)).length, 4)
  })

  t.test('refuses with slow_down the request of a thread that died; the others are answered', async (t) => {
    const pool = poolOf(t, { workerFile: fragileWorker(t) })
    const answers = await Promise.allSettled(
      [1, 0, 2, 0, 0, 3, 4].map((first) => pool.nameOf(KEYS.secrets, shared(Buffer.alloc(10, first)))),
    )
    const reported = answers.map((answer) =>
      answer.status === 'fulfilled' ? answer.value : (answer.reason as Condition).code,
    )
    t.strictSame(reported, ['1', 'slow_down', '2', 'slow_down', 'slow_down', '3', '4'])
    const reason = answers[1]?.status === 'rejected' ? (answers[1].reason as unknown) : null
    t.ok(reason instanceof Condition)
    t.match((reason as Condition).cause, { message: 'out of luck' })
    t.equal(await pool.nameOf(KEYS.secrets, shared(Buffer.alloc(10, 5))), '5', 'and a new thread continues')
  })

  t.test('finishes its requests when it is closed, and refuses later ones', async (t) => {
    const pool = poolOf(t, { threads: 1 })
    const plain = shared(patternBytes(300_000))
    const running = [1, 2, 3].map(() => pool.nameOf(KEYS.secrets, plain))
    await pool.close()
    t.strictSame(
      await Promise.all(running),
      Array.from({ length: 3 }, () => KEYS.chunkIdOf(plain)),
    )
    await t.rejects(pool.nameOf(KEYS.secrets, plain), { code: 'shutting_down' })
    await pool.close()
  })

  t.test('accepts no more requests than its bound', async (t) => {
    const pool = poolOf(t, { threads: 1, jobsMax: 2 })
    const plain = shared(patternBytes(300_000))
    const running = [1, 2].map(() => pool.nameOf(KEYS.secrets, plain))
    await t.rejects(pool.nameOf(KEYS.secrets, plain), { message: /every request has a chunk slot/ })
    await Promise.all(running)
  })
})

t.test('ingest over sealing threads', async (t) => {
  t.test('returns the bytes when chunks of several uploads share few buffers', async (t) => {
    const world = new ContentWorld({ limits: { chunkBuffersMax: 3 } })
    const bodies = Array.from({ length: 6 }, (_, i) => patternBytes(2 * CHUNK_BYTES + 300_000, i + 1))
    const objects = await Promise.all(bodies.map((body) => world.put(body, 500_000)))
    for (const [i, object] of objects.entries()) {
      t.ok((await world.get(object)).equals(bodies[i] ?? Buffer.alloc(0)), `body ${i}`)
    }
    t.equal(world.content.chunksHeld, 0)
    t.equal(world.content.memory.bytes, 0)
    await world.content.close()
    await t.rejects(world.ingest(inPieces(patternBytes(CHUNK_BYTES, 99), 500_000)), { code: 'shutting_down' })
    t.equal(world.content.chunksHeld, 0)
    t.equal(world.content.memory.bytes, 0)
  })
})
