/**
 * Proofs of the removal of copies on a virtual clock: a copy that may be removed is removed, no other copy is, also when rows
 * change between the check and the removal.
 */
import t from 'tap'
import { CopyLocks } from '../../cluster/blobs/disk/copy-locks.ts'
import { CopyRemover } from '../../cluster/repair/copy-remover.ts'
import { type BlobName, Condition, type CopyStatus } from '../../cluster/base/types.ts'
import { type SampleBlob, sampleBlob, streamOf } from '../blobs/blob-samples.ts'
import { MemoryBlobStore } from '../blobs/memory-blob-store.ts'
import { deferred } from '../helpers/async.ts'
import { SILENT } from '../helpers/loggers.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'

class Bench {
  readonly clock = new VirtualClock()
  readonly store = new MemoryBlobStore()
  readonly locks = new CopyLocks()
  readonly copyStatuses = new Map<string, CopyStatus>()
  readonly dropped: string[] = []
  /** The open copies that the previous stop recorded. */
  kept: readonly BlobName[] | null = null
  readonly sweepFile = {
    take: async () => {
      const { kept } = this
      this.kept = null
      return kept
    },
    write: async (names: readonly BlobName[]) => {
      this.kept = names
    },
  }
  barrier: () => Promise<void> = async () => undefined
  refuseDropped = 0
  /** Names from an outdated reading of the drop rows. */
  staleDrops: BlobName[] = []
  /** Copies whose births start with this prefix count as listed. */
  listedFrom: string | null = null
  readonly remover: CopyRemover

  constructor() {
    this.remover = new CopyRemover({
      nodeId: 'a',
      ledger: {
        drops: async (_holder, limit) => [...this.staleDrops, ...this.#named('dropping')].slice(0, limit),
        dropped: async (_holder, names) => this.#onDropped(names),
        copyStatus: (name) => this.#copyStatusOf(name),
      },
      store: this.store,
      locks: this.locks,
      sweepFile: this.sweepFile,
      readBarrier: () => this.barrier(),
      clock: this.clock,
      logger: SILENT,
    })
  }

  async copy(seed: number, copyStatus: CopyStatus): Promise<SampleBlob> {
    const blob = sampleBlob(seed, 100)
    await this.store.write(blob, streamOf(blob.bytes), blob)
    this.copyStatuses.set(keyOf(blob), copyStatus)
    return blob
  }

  async has(blob: BlobName): Promise<boolean> {
    return (await this.store.stat(blob)) !== null
  }

  #copyStatusOf(name: BlobName): CopyStatus {
    const isListed = this.listedFrom !== null && name.birth.startsWith(this.listedFrom)
    return this.copyStatuses.get(keyOf(name)) ?? (isListed ? 'listed' : 'undecided')
  }

  #named(copyStatus: CopyStatus): BlobName[] {
    return [...this.copyStatuses].filter(([, one]) => one === copyStatus).map(([key]) => nameOf(key))
  }

  async #onDropped(names: readonly BlobName[]): Promise<void> {
    if (this.refuseDropped-- > 0) throw new Condition('no_leader', 'There is no leader')
    for (const name of names) {
      this.dropped.push(keyOf(name))
      this.copyStatuses.delete(keyOf(name))
    }
  }
}

/** Births of copies that only a walk finds on the disk. */
const LISTED = 'listed-'

/** Pages of a disk with this many copies. */
function manyNames(after: BlobName | null, limit: number, count: number): BlobName[] {
  const first = after === null ? 0 : Number.parseInt(after.id, 16) + 1
  return Array.from({ length: Math.min(limit, count - first) }, (_, n) => ({
    id: (first + n).toString(16).padStart(16, '0'),
    birth: `${LISTED}0`,
  }))
}

const keyOf = ({ id, birth }: BlobName): string => `${id}.${birth}`
const nameOf = (key: string): BlobName => {
  const [id = '', birth = ''] = key.split('.')
  return { id, birth }
}

t.test('CopyRemover', async (t) => {
  t.test('removes dropped and abandoned copies, and leaves all others', async (t) => {
    const bench = new Bench()
    const going = [await bench.copy(1, 'dropping'), await bench.copy(2, 'abandoned')]
    const staying = [
      await bench.copy(3, 'listed'),
      await bench.copy(4, 'owed'),
      await bench.copy(5, 'undecided'),
    ]
    bench.remover.start()
    await bench.clock.advance(1_000)
    for (const blob of going) t.notOk(await bench.has(blob))
    for (const blob of staying) t.ok(await bench.has(blob))
    t.strictSame(bench.dropped, going.slice(0, 1).map(keyOf), 'and reports the dropped ones')
    await bench.remover.stop()
  })

  t.test(
    'removes nothing before its rows are known to be no older than the actions of this node',
    async (t) => {
      const bench = new Bench()
      const blob = await bench.copy(1, 'abandoned')
      const { promise, resolve } = deferred()
      bench.barrier = () => promise
      bench.remover.start()
      await bench.clock.advance(10_000)
      t.notOk(await bench.remover.remove(blob))
      t.ok(await bench.has(blob))
      resolve()
      await bench.clock.advance(10_000)
      t.notOk(await bench.has(blob))
      await bench.remover.stop()
    },
  )

  t.test('reads the rows again once it holds the lock: a copy that was made meanwhile stays', async (t) => {
    const bench = new Bench()
    const blob = await bench.copy(1, 'listed')
    bench.remover.start()
    await bench.clock.advance(1_000)
    bench.copyStatuses.set(keyOf(blob), 'dropping')
    const { promise, resolve } = deferred()
    const copying = bench.locks.hold(blob, async () => {
      await promise
      bench.copyStatuses.set(keyOf(blob), 'listed')
    })
    const removing = bench.remover.remove(blob)
    resolve()
    await copying
    t.notOk(await removing)
    t.ok(await bench.has(blob))
    await bench.remover.stop()
  })

  t.test('holds the lock until the copy is gone: no other component counts on it meanwhile', async (t) => {
    const bench = new Bench()
    const blob = await bench.copy(1, 'listed')
    bench.remover.start()
    await bench.clock.advance(1_000)
    bench.copyStatuses.set(keyOf(blob), 'dropping')
    const removing = bench.remover.remove(blob)
    t.notOk(await bench.locks.hold(blob, () => bench.has(blob)))
    t.ok(await removing)
    await bench.remover.stop()
  })

  t.test('acts on a drop row at once during a walk over many copies', async (t) => {
    const bench = new Bench()
    bench.store.list = async (after, limit) => manyNames(after, limit, 32_000)
    bench.listedFrom = LISTED
    bench.remover.start()
    await bench.clock.advance(500)
    const blob = await bench.copy(1, 'dropping')
    await bench.clock.advance(1_000)
    t.notOk(await bench.has(blob))
    t.strictSame(bench.dropped, [keyOf(blob)])
    await bench.remover.stop()
  })

  t.test('removes many together, without waiting for copies that are locked elsewhere', async (t) => {
    const bench = new Bench()
    const groups: number[] = []
    const remove = bench.store.remove.bind(bench.store)
    bench.store.remove = async (names) => {
      groups.push(names.length)
      await remove(names)
    }
    const blobs: SampleBlob[] = []
    for (let seed = 0; seed < 1_500; seed++) blobs.push(await bench.copy(seed, 'dropping'))
    const [busy] = blobs as [SampleBlob, ...SampleBlob[]]
    const { promise, resolve } = deferred()
    const copying = bench.locks.hold(busy, () => promise)
    bench.remover.start()
    await bench.clock.advance(1_000)
    t.equal(bench.dropped.length, 1_499)
    t.ok(await bench.has(busy))
    t.ok(groups.length <= 3 && groups.every((size) => size <= 1_024), `groups of ${groups.join(', ')}`)
    resolve()
    await copying
    await bench.clock.advance(1_000)
    t.notOk(await bench.has(busy))
    await bench.remover.stop()
  })

  t.test('keeps those of a group that the rows want to keep once the locks are held', async (t) => {
    const bench = new Bench()
    const kept = [await bench.copy(1, 'owed'), await bench.copy(2, 'listed')]
    const going = await bench.copy(3, 'dropping')
    bench.staleDrops = kept
    bench.remover.start()
    await bench.clock.advance(1_000)
    t.strictSame(bench.dropped, [keyOf(going)])
    for (const blob of kept) t.ok(await bench.has(blob))
    await bench.remover.stop()
  })

  t.test('reports a removal again when the first report failed', async (t) => {
    const bench = new Bench()
    const blob = await bench.copy(1, 'dropping')
    bench.refuseDropped = 2
    bench.remover.start()
    await bench.clock.advance(10_000)
    t.strictSame(bench.dropped, [keyOf(blob)])
    await bench.remover.stop()
  })

  t.test('finds copies on a later walk that were undecided on the first', async (t) => {
    const bench = new Bench()
    const blob = await bench.copy(1, 'undecided')
    bench.remover.start()
    await bench.clock.advance(1_000)
    bench.copyStatuses.set(keyOf(blob), 'abandoned')
    t.ok(await bench.has(blob))
    await bench.clock.advance(3_700_000)
    t.notOk(await bench.has(blob))
    await bench.remover.stop()
  })

  t.test('walks over more copies than fit a page, and ends early when it is stopped', async (t) => {
    const bench = new Bench()
    const blobs = []
    for (let seed = 0; seed < 200; seed++) blobs.push(await bench.copy(seed, 'abandoned'))
    bench.remover.start()
    await bench.clock.advance(10)
    const stopped = bench.remover.stop()
    await bench.clock.advance(100)
    await stopped
    const left = async (): Promise<number> => (await bench.store.list(null, 1_000)).length
    t.ok((await left()) > 0)
    bench.remover.start()
    await bench.clock.advance(3_700_000)
    t.equal(await left(), 0)
    await bench.remover.stop()
  })
})
