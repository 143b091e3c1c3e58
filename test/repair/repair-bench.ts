/**
 * The repair engine of one node on a virtual clock, over blobs and rows in memory.
 */
import { RepairEngine, type RepairEngineOptions } from '../../cluster/repair/repair-engine.ts'
import { CopyLocks } from '../../cluster/blobs/disk/copy-locks.ts'
import { Throttle } from '../../cluster/repair/throttle.ts'
import { type BlobRef, Condition, type ReplicaTask } from '../../cluster/base/types.ts'
import { type SampleBlob, streamOf } from '../blobs/blob-samples.ts'
import { MemoryBlobStore } from '../blobs/memory-blob-store.ts'
import { SILENT } from '../helpers/loggers.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'

/** Node c repairs; a and b hold copies. The rows are those that the service would have committed. */
export class RepairBench {
  readonly clock = new VirtualClock()
  readonly stores = { a: new MemoryBlobStore(), b: new MemoryBlobStore(), c: new MemoryBlobStore() }
  readonly rows = new Map<string, ReplicaTask>()
  readonly reports: string[] = []
  readonly engine: RepairEngine
  polls = 0
  rowsSeen = 0
  commits = 0
  /** Copies of each report that was committed. */
  readonly entries: number[] = []
  readsUnderWay = 0
  readsAtMost = 0
  refuseDone = 0
  beforeDone: () => Promise<void> = async () => undefined

  readonly locks = new CopyLocks()
  readonly throttle = new Throttle(this.clock, null)

  constructor(options: Partial<RepairEngineOptions> = {}) {
    this.engine = new RepairEngine({
      nodeId: 'c',
      tasks: {
        pending: (_target, limit) => this.#pending(limit),
        done: (tasks) => this.#done(tasks),
        copyStatus: (name) => (this.rows.has(name.birth) ? 'owed' : 'undecided'),
      },
      store: this.stores.c,
      blobs: {
        copies: (ref) =>
          (['c', 'a', 'b'] as const).map((nodeId) => ({
            nodeId,
            read: (start, end) => this.#read(ref, nodeId, { start, end }),
          })),
        report: (ref, nodeId, fault) => this.reports.push(`${ref.birth}@${nodeId} ${fault}`),
      },
      locks: this.locks,
      throttle: this.throttle,
      clock: this.clock,
      logger: SILENT,
      random: () => 0,
      ...options,
    })
  }

  async task(
    blob: SampleBlob,
    holders: readonly ('a' | 'b' | 'c')[],
    listed: readonly string[] = ['a', 'b'],
  ): Promise<void> {
    for (const holder of holders) await this.stores[holder].write(blob, streamOf(blob.bytes), blob)
    const { id, birth, size, checksum } = blob
    this.rows.set(birth, { ref: { id, birth, size, checksum, replicas: listed }, permit: 1, target: 'c' })
  }

  metric(name: string): number | undefined {
    return this.engine.metrics().find((sample) => sample.name === `holdfast_repair_${name}`)?.value
  }

  #pending(limit: number): readonly ReplicaTask[] {
    this.polls++
    const found = [...this.rows.values()].slice(0, limit)
    this.rowsSeen += found.length
    return found
  }

  async #done(tasks: readonly ReplicaTask[]): Promise<void> {
    if (this.refuseDone > 0) {
      this.refuseDone--
      throw new Condition('no_leader', 'There is no leader')
    }
    await this.beforeDone()
    for (const { ref } of tasks) {
      this.rows.delete(ref.birth)
      this.commits++
    }
    this.entries.push(tasks.length)
  }

  async *#read(ref: BlobRef, nodeId: 'a' | 'b' | 'c', range: { start: number; end: number }) {
    this.readsUnderWay++
    this.readsAtMost = Math.max(this.readsAtMost, this.readsUnderWay)
    try {
      yield* this.stores[nodeId].read(ref, range.start, range.end)
    } finally {
      this.readsUnderWay--
    }
  }
}
