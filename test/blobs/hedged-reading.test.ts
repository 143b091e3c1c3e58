/**
 * The race for the first piece as a text: which copies were tried, which started, how the others ended. Only a virtual clock.
 */
import t from 'tap'
import { HedgedReading } from '../../cluster/blobs/replication/blob-reading.ts'
import { Hedge } from '../../cluster/blobs/peers/hedge.ts'
import { type BlobCopy, BlobDamagedError, type OpenedCopy } from '../../cluster/base/types.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'
import { BlobCluster } from './blob-cluster.ts'
import { collect, refOf, sampleBlob, sha256, streamOf } from './blob-samples.ts'

const OPTIONS = { delayMinMs: 20, delayMaxMs: 1_000, shareMax: 0.1 }

interface Asked {
  readonly begin: () => void
  readonly fail: (why: Error) => void
  closed: boolean
}

/** Copies that start when the test says so; each yields its own name, twice. */
class Bench {
  readonly clock = new VirtualClock()
  readonly hedge = new Hedge(OPTIONS)
  readonly asked = new Map<string, Asked>()
  readonly faults: string[] = []
  opened: OpenedCopy | null | undefined

  reading(nodes: string): HedgedReading {
    return new HedgedReading({
      copies: nodes.split(' ').map((nodeId) => this.#copy(nodeId)),
      clock: this.clock,
      hedge: this.hedge,
      onFault: ({ nodeId }, fault) => this.faults.push(`${nodeId}: ${(fault as Error).message}`),
    })
  }

  async next(reading: HedgedReading): Promise<void> {
    this.opened = undefined
    reading.next(0, 2).then((opened) => {
      this.opened = opened
    })
    await this.clock.settle()
  }

  async begin(node: string): Promise<void> {
    this.asked.get(node)?.begin()
    await this.clock.settle()
  }

  async fail(node: string, why: Error = new Error('gone')): Promise<void> {
    this.asked.get(node)?.fail(why)
    await this.clock.settle()
  }

  get order(): string {
    return [...this.asked.keys()].join(' ')
  }

  #copy(nodeId: string): BlobCopy {
    return { nodeId, read: () => this.#read(nodeId) }
  }

  async *#read(nodeId: string): AsyncGenerator<Uint8Array> {
    const started = new Promise<void>((begin, fail) => {
      this.asked.set(nodeId, { begin, fail, closed: false })
    })
    try {
      await started
      yield Buffer.from(nodeId)
      yield Buffer.from(nodeId)
    } finally {
      const own = this.asked.get(nodeId)
      if (own !== undefined) own.closed = true
    }
  }
}

t.test('HedgedReading', async (t) => {
  t.test('tries only one copy while it starts in time', async (t) => {
    const bench = new Bench()
    const reading = bench.reading('a b')
    await bench.next(reading)
    await bench.clock.advance(999)
    await bench.begin('a')
    t.equal(bench.order, 'a')
    t.equal(bench.opened?.copy.nodeId, 'a')
    t.equal(Buffer.from(await collect(bench.opened?.pieces ?? streamOf())).toString(), 'aa')
    t.equal(bench.clock.pending, 0, 'no timer is left behind')
  })

  t.test(
    'tries a second copy after the delay, takes the first to start, closes the other and keeps it for later',
    async (t) => {
      const bench = new Bench()
      const reading = bench.reading('a b')
      await bench.next(reading)
      await bench.clock.advance(1_000)
      t.equal(bench.order, 'a b')
      await bench.begin('b')
      t.equal(bench.opened?.copy.nodeId, 'b')
      await bench.begin('a')
      t.equal(bench.asked.get('a')?.closed, true, 'the losing copy is closed when it starts')
      t.strictSame(bench.faults, [], 'slowness is not a fault')
      bench.asked.delete('a')
      await bench.next(reading)
      await bench.begin('a')
      t.equal(bench.opened?.copy.nodeId, 'a', 'it may be tried again when the winner breaks off')
      await bench.next(reading)
      t.equal(bench.opened, null)
    },
  )

  t.test('tries the next copy at once when one cannot start, and reports the fault', async (t) => {
    const bench = new Bench()
    const reading = bench.reading('a b c')
    await bench.next(reading)
    await bench.fail('a', new BlobDamagedError('rotten'))
    await bench.fail('b')
    await bench.begin('c')
    t.equal(bench.opened?.copy.nodeId, 'c')
    t.strictSame(bench.faults, ['a: rotten', 'b: gone'])
    t.equal(reading.faults.length, 2)
  })

  t.test('waits for the slow copy when the second fails', async (t) => {
    const bench = new Bench()
    const reading = bench.reading('a b')
    await bench.next(reading)
    await bench.clock.advance(1_000)
    await bench.fail('b')
    t.equal(bench.opened, undefined)
    await bench.begin('a')
    t.equal(bench.opened?.copy.nodeId, 'a')
  })

  t.test('also reports the fault of a copy that fails after it lost', async (t) => {
    const bench = new Bench()
    await bench.next(bench.reading('a b'))
    await bench.clock.advance(1_000)
    await bench.begin('b')
    await bench.fail('a', new BlobDamagedError('rotten'))
    t.strictSame(bench.faults, ['a: rotten'])
  })

  t.test('ends with null when no copy can start, and when there is none', async (t) => {
    const bench = new Bench()
    await bench.next(bench.reading('a'))
    await bench.fail('a')
    t.equal(bench.opened, null)
    const none = new HedgedReading({
      copies: [],
      clock: bench.clock,
      hedge: bench.hedge,
      onFault: () => undefined,
    })
    t.equal(await none.next(0, 1), null)
    t.equal(bench.clock.pending, 0)
  })

  t.test('leaves nothing open when the reader stops before its first piece', async (t) => {
    const bench = new Bench()
    await bench.next(bench.reading('a'))
    await bench.begin('a')
    await bench.opened?.pieces[Symbol.asyncIterator]().return?.()
    t.equal(bench.asked.get('a')?.closed, true)
  })
})

t.test('Hedge', async (t) => {
  t.test('waits for the 95th percentile of the measurements, within its bounds', async (t) => {
    const hedge = new Hedge(OPTIONS)
    t.equal(hedge.delayMs, 1_000, 'there are no measurements yet')
    for (let n = 1; n <= 256; n++) hedge.began(n)
    t.equal(hedge.delayMs, 244)
    for (let n = 0; n < 256; n++) hedge.began(1)
    t.equal(hedge.delayMs, 20)
    for (let n = 0; n < 256; n++) hedge.began(60_000)
    t.equal(hedge.delayMs, 1_000)
  })

  t.test('makes a second read for one read in ten, and at most ten in a burst', async (t) => {
    const hedge = new Hedge(OPTIONS)
    const spend = () => {
      let spent = 0
      while (hedge.mayHedge()) spent++
      return spent
    }
    t.equal(spend(), 10)
    for (let n = 0; n < 35; n++) hedge.began(5)
    t.equal(spend(), 3)
    for (let n = 0; n < 1_000; n++) hedge.began(5)
    t.equal(spend(), 10)
  })
})

t.test('ReplicatedBlobs.reading', async (t) => {
  t.test('reads around a node that hangs, long before its call times out', async (t) => {
    const cluster = await BlobCluster.start(t, 'x y z', { hedgeDelayMaxMs: 50 })
    const blob = sampleBlob(1, 10_000)
    await cluster.write(blob)
    const { blobs } = cluster.node('n1')
    const reading = blobs.reading(refOf(blob, ['n2', 'n3']))
    const [first] = blobs.copies(refOf(blob, ['n2', 'n3']))
    cluster.network.isolate(first?.nodeId ?? '')
    const began = cluster.clock.now()
    const opened = await cluster.clock.resolve(reading.next(0, blob.size), { limitMs: 20_000 })
    t.ok(cluster.clock.now() - began < 100, `${cluster.clock.now() - began} ms`)
    t.not(opened?.copy.nodeId, first?.nodeId)
    const bytes = await cluster.clock.resolve(collect(opened?.pieces ?? streamOf()), { limitMs: 1_000 })
    t.equal(sha256(bytes), blob.checksum)
  })

  t.test('has a missing and a damaged copy judged by their owners', async (t) => {
    const cluster = await BlobCluster.start(t, 'x y z')
    const blob = sampleBlob(1)
    await cluster.write(blob)
    const ref = refOf(blob, ['n1', 'n2', 'n3'])
    await cluster.node('n1').store.quarantine(blob)
    const opened = await cluster.clock.resolve(cluster.node('n1').blobs.reading(ref).next(0, 10), {
      limitMs: 1_000,
    })
    t.ok(opened)
    await cluster.clock.advance(100)
    t.strictSame(cluster.node('n1').faults, ['birth-1@n1 missing'])
  })
})
