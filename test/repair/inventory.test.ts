/**
 * Proofs of the inventory: every row of this node is compared with its disk, and missing copies are reported.
 */
import t from 'tap'
import { CopyLocks } from '../../cluster/blobs/disk/copy-locks.ts'
import { CopyCheck } from '../../cluster/repair/copy-check.ts'
import { Inventory } from '../../cluster/repair/inventory.ts'
import { RetryLoop, StoppedError } from '../../cluster/base/retry-loop.ts'
import { BlobDamagedError, type BlobName, Condition } from '../../cluster/base/types.ts'
import { type SampleBlob, sampleBlob, streamOf } from '../blobs/blob-samples.ts'
import { MemoryBlobStore } from '../blobs/memory-blob-store.ts'
import { deferred } from '../helpers/async.ts'
import { SILENT } from '../helpers/loggers.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'
import { Throttle } from '../../cluster/repair/throttle.ts'
import { RowBook } from './row-book.ts'

class FramedStore extends MemoryBlobStore {
  readonly tornFrames = new Set<string>()
  beforeStat: () => Promise<void> = async () => undefined

  override async stat(name: BlobName) {
    await this.beforeStat()
    if (this.tornFrames.has(name.birth)) throw new BlobDamagedError('The header is cut off')
    return super.stat(name)
  }
}

class Bench {
  readonly clock = new VirtualClock()
  readonly store = new FramedStore()
  readonly book = new RowBook()
  readonly retryLoop = new RetryLoop(this.clock, SILENT)
  readonly throttle = new Throttle(this.clock, null)
  readonly inventory: Inventory
  kicks = 0

  constructor() {
    const { clock, store, book: ledger, retryLoop } = this
    const remover = { remove: async () => false }
    const locks = new CopyLocks()
    const check = new CopyCheck({ nodeId: 'n1', ledger, store, remover, locks, logger: SILENT })
    const onLost = (): void => void this.kicks++
    const throttle = this.throttle
    const common = { nodeId: 'n1', ledger, store, check, throttle, clock, retryLoop }
    this.inventory = new Inventory({ ...common, logger: SILENT, onLost })
  }

  async add(seed: number): Promise<SampleBlob> {
    const blob = sampleBlob(seed)
    await this.store.write(blob, streamOf(blob.bytes), blob)
    this.book.list(blob)
    return blob
  }
}

t.test('Inventory', async (t) => {
  t.test(
    'reports copies that are missing, torn or different from their rows, and ignores those of other nodes',
    async (t) => {
      const bench = new Bench()
      const [good, gone, torn, other] = [
        await bench.add(1),
        await bench.add(2),
        await bench.add(3),
        await bench.add(4),
      ]
      await bench.store.remove([gone])
      bench.store.tornFrames.add(torn.birth)
      bench.book.listOtherBytes(other)
      bench.book.list(sampleBlob(5), ['n2', 'n3'])
      await bench.clock.resolve(bench.inventory.run(), { limitMs: 1_000 })
      t.strictSame(bench.book.reported.flat().sort(), [gone, torn, other].map(({ birth }) => birth).sort())
      t.strictSame(bench.book.inventories, [3], 'the end is reported once, after all of them')
      t.strictSame(
        bench.store.quarantined.sort(),
        [torn, other].map(({ id, birth }) => `${id}.${birth}`).sort(),
      )
      t.equal((await bench.store.verify(good)).size, good.size)
      t.match(bench.inventory.status(), { runs: 1, copies: 4, lost: 3, isRunning: false })
      t.equal(bench.kicks, 1)
    },
  )

  t.test('reports a whole lost disk in batches of 256 at most', async (t) => {
    const bench = new Bench()
    for (let seed = 0; seed < 1_000; seed++) bench.book.list(sampleBlob(seed))
    await bench.clock.resolve(bench.inventory.run(), { limitMs: 1_000 })
    t.equal(bench.book.reported.flat().length, 1_000)
    t.ok(bench.book.reported.every(({ length }) => length <= 256))
  })

  t.test('continues over pages without copies of this node', async (t) => {
    const bench = new Bench()
    for (let seed = 0; seed < 600; seed++) bench.book.list(sampleBlob(seed), ['n2'])
    const last = [...bench.book.rows.values()].sort((a, b) => (a.id < b.id ? 1 : -1))[0]
    bench.book.rows.set(`${last?.id}.${last?.birth}`, { ...sampleBlob(0), ...last, replicas: ['n1', 'n2'] })
    await bench.clock.resolve(bench.inventory.run(), { limitMs: 1_000 })
    t.strictSame(bench.book.reported, [[last?.birth]])
  })

  t.test('retries a report that fails', async (t) => {
    const bench = new Bench()
    bench.book.list(sampleBlob(1))
    bench.book.refusal = new Condition('no_quorum', 'There is no leader')
    const run = bench.inventory.run()
    await bench.clock.advance(600_000)
    t.equal(bench.inventory.status().runs, 0)
    bench.book.refusal = null
    await bench.clock.resolve(run, { limitMs: 61_000 })
    t.strictSame(bench.book.reported, [['birth-1']])
  })

  t.test('runs again for callers that arrive while it runs, once for all of them', async (t) => {
    const bench = new Bench()
    const blob = await bench.add(1)
    const gate = deferred()
    let looks = 0
    bench.store.beforeStat = async () => {
      await gate.promise
      if (++looks === 2) await bench.store.remove([blob])
    }
    const first = bench.inventory.run()
    const later = [bench.inventory.run(), bench.inventory.run()]
    gate.resolve()
    await bench.clock.resolve(Promise.all([first, ...later]), { limitMs: 1 })
    t.equal(bench.inventory.status().runs, 2)
    t.strictSame(bench.book.reported, [[blob.birth]])
  })

  t.test('does not report a copy as lost that moved to another node during the walk', async (t) => {
    const bench = new Bench()
    const blob = await bench.add(1)
    const gate = deferred()
    const listed = bench.book.listed.bind(bench.book)
    bench.book.listed = async (...query) => {
      const page = await listed(...query)
      await gate.promise
      return page
    }
    const run = bench.inventory.run()
    bench.book.copyStatuses.set(`${blob.id}.${blob.birth}`, 'dropping')
    await bench.store.remove([blob])
    gate.resolve()
    await bench.clock.resolve(run, { limitMs: 1 })
    t.strictSame(bench.book.reported, [])
  })

  t.test(
    'reads no frame of a copy that is known to be unchanged, and the others at the rate of repair',
    async (t) => {
      const bench = new Bench()
      const blobs: SampleBlob[] = []
      for (let seed = 0; seed < 40; seed++) blobs.push(await bench.add(seed))
      let frames = 0
      bench.store.beforeStat = async () => void frames++
      const unchanged = new Set(blobs.slice(0, 30).map(({ birth }) => birth as string))
      bench.store.areUnchanged = async (copies) => copies.map(({ birth }) => unchanged.has(birth))
      bench.throttle.setRate(4_096)
      const run = bench.inventory.run()
      await bench.clock.advance(8_000)
      t.equal(bench.inventory.status().runs, 0, 'ten frames take ten seconds')
      await bench.clock.resolve(run, { limitMs: 30_000 })
      t.equal(frames, 10)
      t.match(bench.inventory.status(), { runs: 1, copies: 40, lost: 0 })
    },
  )

  t.test('rests as long as it reads, unless copies are missing', async (t) => {
    for (const isThere of [true, false]) {
      const bench = new Bench()
      const blob = await bench.add(1)
      if (!isThere) await bench.store.remove([blob])
      bench.store.beforeStat = () => new Promise((resolve) => bench.clock.after(500, resolve))
      await bench.clock.resolve(bench.inventory.run(), { limitMs: 5_000 })
      t.equal(bench.clock.now(), isThere ? 1_000 : 500)
    }
  })

  t.test('ends when it is stopped, and reports that', async (t) => {
    const bench = new Bench()
    bench.book.list(sampleBlob(1))
    bench.book.refusal = new Condition('no_quorum', 'There is no leader')
    const run = bench.inventory.run()
    await bench.clock.advance(5_000)
    bench.retryLoop.end()
    await t.rejects(run, StoppedError)
    t.equal(bench.clock.pending, 0)
  })
})
