/**
 * Small blobs in batches: the contents of a call, the outcome of each blob, and a body that is cut anywhere.
 */
import assert from 'node:assert/strict'
import { crc32c } from '@node-rs/crc32'
import fc from 'fast-check'
import t from 'tap'
import { BATCH_BLOBS_MAX, readBatchOf, readContentOf } from '../../cluster/blobs/base/blob-calls.ts'
import { BLOB_LIMITS } from '../../cluster/blobs/base/blob-limits.ts'
import { cutBatch } from '../../cluster/blobs/peers/incoming-batch.ts'
import { type OutgoingBlob, PeerBlobs } from '../../cluster/blobs/peers/peer-blobs.ts'
import { PeerHealth } from '../../cluster/blobs/peers/peer-health.ts'
import { PutBatches } from '../../cluster/blobs/peers/put-batches.ts'
import { PeerRefusedError, PeerUnreachableError } from '../../cluster/transport/transport.ts'
import { collected } from '../helpers/async.ts'
import { BlobCluster } from './blob-cluster.ts'
import { flipped, sampleBlob, sha256, streamOf } from './blob-samples.ts'

type Outcomes = readonly (PeerRefusedError | null)[]

/** Calls that end when the test says so. */
class Bench {
  readonly calls: {
    readonly blobs: readonly OutgoingBlob[]
    end(outcomes?: Outcomes): void
    fail(error: Error): void
  }[] = []
  readonly reported: string[] = []
  readonly batches = new PutBatches({ send: (blobs) => this.#send(blobs) })

  put(...seeds: number[]): void {
    for (const seed of seeds) this.putWith(seed, new AbortController().signal)
  }

  putWith(seed: number, signal: AbortSignal, size = 1000): void {
    this.batches.put(sampleBlob(seed, size), signal).then(
      () => this.reported.push(`${seed} durable`),
      (error: Error) => this.reported.push(`${seed} ${error.message}`),
    )
  }

  /** How many blobs went into each call. */
  get sizes(): number[] {
    return this.calls.map(({ blobs }) => blobs.length)
  }

  async end(call: number, outcomes?: Outcomes): Promise<void> {
    this.calls[call]?.end(outcomes)
    await new Promise(setImmediate)
  }

  #send(blobs: readonly OutgoingBlob[]): Promise<Outcomes> {
    return new Promise((resolve, reject) => {
      this.calls.push({ blobs, end: (outcomes) => resolve(outcomes ?? blobs.map(() => null)), fail: reject })
    })
  }
}

t.test('PutBatches', async (t) => {
  t.test('sends a single blob at once, and in one call the blobs that wait for it', async (t) => {
    const bench = new Bench()
    bench.put(1, 2, 3, 4, 5)
    t.strictSame(bench.sizes, [1])
    await bench.end(0)
    t.strictSame(bench.sizes, [1, 4])
    t.strictSame(bench.reported, ['1 durable'])
    await bench.end(1)
    t.strictSame(bench.reported, ['1 durable', '2 durable', '3 durable', '4 durable', '5 durable'])
    t.strictSame(bench.sizes, [1, 4], 'no call is made for nothing')
  })

  t.test('bounds a call by blobs and by bytes, and sends a large blob by itself', async (t) => {
    const bench = new Bench()
    bench.put(...Array.from({ length: BATCH_BLOBS_MAX + 6 }, (_, n) => 10 + n))
    await bench.end(0)
    await bench.end(1)
    t.strictSame(bench.sizes, [1, BATCH_BLOBS_MAX, 5])
    const { signal } = new AbortController()
    for (let seed = 100; seed < 105; seed++) bench.putWith(seed, signal, 400_000)
    for (const call of [2, 3, 4]) await bench.end(call)
    t.strictSame(bench.sizes.slice(3), [2, 2, 1])
  })

  t.test('reports to each blob its own outcome, and no other', async (t) => {
    const bench = new Bench()
    bench.put(1, 2, 3, 4)
    await bench.end(0)
    await bench.end(1, [null, new PeerRefusedError('disk_full', 'the disk is full'), null])
    t.strictSame(bench.reported, ['1 durable', '2 durable', '3 the disk is full', '4 durable'])
  })

  t.test('fails all blobs of a broken call, and continues with the next', async (t) => {
    const bench = new Bench()
    bench.put(1, 2, 3)
    bench.calls[0]?.fail(new PeerUnreachableError('n2', 'gone'))
    await new Promise(setImmediate)
    t.strictSame(bench.reported, ['1 gone'])
    await bench.end(1)
    t.strictSame(bench.reported, ['1 gone', '2 durable', '3 durable'])
  })

  t.test('takes an aborted blob out of the queue, and does not cancel one in flight', async (t) => {
    const bench = new Bench()
    const [flying, waiting] = [new AbortController(), new AbortController()]
    bench.putWith(1, flying.signal)
    bench.putWith(2, waiting.signal)
    bench.put(3)
    for (const abort of [flying, waiting]) abort.abort(new Error('too late'))
    await new Promise(setImmediate)
    t.strictSame(bench.reported, ['1 too late', '2 too late'])
    await bench.end(0)
    t.strictSame(
      bench.calls[1]?.blobs.map(({ birth }) => birth),
      [sampleBlob(3).birth],
    )
    bench.putWith(5, AbortSignal.abort(new Error('never')))
    await bench.end(1)
    t.strictSame(bench.reported.slice(2), ['5 never', '3 durable'])
  })
})

t.test('cutBatch', async (t) => {
  const blobs = [3, 1, 700, 64].map((size, seed) => sampleBlob(seed, size))
  const whole = Buffer.concat(blobs.map(({ bytes }) => bytes))

  t.test('yields the blobs however their bytes are cut into pieces', async () => {
    const cuts = fc.array(fc.nat(whole.length), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(cuts, async (at) => {
        const edges = [0, ...at.toSorted((a, b) => a - b), whole.length]
        const pieces = edges.slice(1).map((end, n) => whole.subarray(edges[n], end))
        const cut = await collected(cutBatch(blobs, streamOf(...pieces)))
        assert.deepEqual(
          cut.map(({ blob, bytes }) => [blob.birth, sha256(bytes)]),
          blobs.map(({ birth, checksum }) => [birth, checksum]),
        )
      }),
      { seed: 20260801, numRuns: 200 },
    )
  })

  t.test(
    'yields the blobs that a short body contains, and refuses bytes that belong to no blob',
    async (t) => {
      const short = await collected(cutBatch(blobs, streamOf(whole.subarray(0, 5))))
      t.strictSame(
        short.map(({ blob }) => blob.birth),
        blobs.slice(0, 2).map(({ birth }) => birth),
      )
      await t.rejects(collected(cutBatch(blobs, streamOf(whole, Uint8Array.of(1)))), {
        code: 'blob_call_invalid',
      })
    },
  )
})

t.test('blobs in one batch', async (t) => {
  t.test('are durable independently: a wrong one does not fail the others', async (t) => {
    const cluster = await BlobCluster.start(t, 'x y z')
    const good = Array.from({ length: 20 }, (_, seed) => sampleBlob(seed, 5_000))
    const wrong = { ...sampleBlob(99, 5_000), checksum: sampleBlob(98).checksum }
    const writes = [...good.slice(0, 10), wrong, ...good.slice(10)].map((blob) =>
      cluster
        .node('n1')
        .blobs.write(blob)
        .then(
          ({ replicas }) => replicas.length,
          (error: { readonly code?: string }) => error.code,
        ),
    )
    const ends = await cluster.clock.resolve(Promise.all(writes), { limitMs: 60_000 })
    t.equal(ends[10], 'checksum_mismatch')
    t.ok(
      ends.every((end, n) => n === 10 || end === 3),
      JSON.stringify(ends),
    )
    for (const { store } of cluster.nodes.values())
      for (const blob of good) t.equal((await store.verify(blob)).checksum, blob.checksum)
  })

  t.test('are compared by the peer with their CRC-32C, and without one with their checksum', async (t) => {
    const cluster = await BlobCluster.start(t, 'x y z')
    const whole = sampleBlob(1, 5_000)
    const crc = crc32c(whole.bytes)
    const peers = new PeerBlobs({
      transport: cluster.node('n1').transport,
      health: new PeerHealth({ clock: cluster.clock, coolDownMs: 500, coolDownMaxMs: 500 }),
      clock: cluster.clock,
      limits: { ...BLOB_LIMITS, batchedBelowBytes: 0 },
    })
    const batched = cluster.node('n1').blobs
    const spoiled = { ...whole, bytes: flipped(whole.bytes, 2_500) }
    for (const sums of [{ crc32c: crc }, {}]) {
      const alone = peers.put('n2', { ...spoiled, ...sums }, new AbortController().signal)
      await t.rejects(cluster.clock.resolve(alone, { limitMs: 60_000 }), { code: 'checksum_mismatch' })
      const together = batched.write({ ...spoiled, ...sums })
      await t.rejects(cluster.clock.resolve(together, { limitMs: 60_000 }), { code: 'checksum_mismatch' })
    }
    for (const { store } of cluster.nodes.values()) t.equal(await store.stat(whole), null)
    const good = peers.put('n2', { ...whole, crc32c: crc }, new AbortController().signal)
    await cluster.clock.resolve(good, { limitMs: 60_000 })
    t.equal((await cluster.node('n2').store.verify(whole)).checksum, whole.checksum)
  })

  t.test('are written together by the peer, once all their bytes are there', async (t) => {
    const cluster = await BlobCluster.start(t, 'x y z')
    const { store } = cluster.node('n2')
    const [one, two] = [sampleBlob(1, 5_000), sampleBlob(2, 5_000)]
    const steps: string[] = []
    store.gate = async () => void steps.push('write')
    async function* slowBody(): AsyncGenerator<Uint8Array> {
      yield one.bytes
      yield two.bytes.subarray(0, 1)
      await new Promise<void>((resolve) => void cluster.clock.after(50, resolve))
      steps.push('the last bytes')
      yield two.bytes.subarray(1)
    }
    const rows = [one, two].map(({ id, birth, size, checksum }) => [id, birth, size, checksum])
    const { transport } = cluster.node('n1')
    await cluster.clock.resolve(
      transport.call('n2', 'blob.puts', { header: { blobs: rows }, body: slowBody(), timeoutMs: 1_000 }),
      { limitMs: 60_000 },
    )
    t.strictSame(steps, ['the last bytes', 'write', 'write'])
    for (const blob of [one, two]) t.equal((await store.verify(blob)).checksum, blob.checksum)
  })

  t.test('refuse what is no CRC-32C', async (t) => {
    for (const crc of [-1, 1.5, 2 ** 32, '7', null]) {
      const { size, checksum, id, birth } = sampleBlob(1)
      t.throws(() => readContentOf({ size, checksum, crc32c: crc }), { code: 'blob_call_invalid' })
      t.throws(() => readBatchOf({ blobs: [[id, birth, size, checksum, crc]] }), {
        code: 'blob_call_invalid',
      })
    }
  })

  t.test('are handed to other members when their peer fails', async (t) => {
    const cluster = await BlobCluster.start(t, 'w x y z')
    await cluster.node('n4').transport.stop()
    const blobs = Array.from({ length: 10 }, (_, seed) => sampleBlob(seed, 5_000))
    const writes = Promise.all(blobs.map((blob) => cluster.node('n1').blobs.write(blob)))
    for (const { replicas, missing } of await cluster.clock.resolve(writes, { limitMs: 60_000 })) {
      t.equal(replicas.length, 3)
      t.strictSame(missing, [])
    }
  })
})
