/**
 * Makes the copies that committed tasks request from this node.
 *
 * Owns: the loop, its pace, its retries. Knows nothing of: why a copy is missing, who requested it, what a blob means.
 * Rules: no copy is written without a committed task for this node. A copy is reported only after it was read back from this node's
 * own disk, and stays locked until the report is committed, while other copies are made. A failure never stops the loop. The rows
 * are read for many copies at a time. Copies for which this disk has no space wait without attempts, and continue by themselves
 * within one poll after there is space.
 */
import type { BlobStore } from '../blobs/base/blob-store.ts'
import { BlobWriteError } from '../blobs/base/blob-store.ts'
import type { CopyLocks } from '../blobs/disk/copy-locks.ts'
import type { Clock, Timer } from '../base/clock.ts'
import {
  type BlobCopy,
  BlobDamagedError,
  BlobMissingError,
  type BlobRef,
  type Blobs,
  type Logger,
  type MetricSample,
  type NodeId,
  type CopyLedger,
  type ReplicaTask,
} from '../base/types.ts'
import { Backoff } from '../base/backoff.ts'
import { CopyReports } from './copy-reports.ts'
import { diskObstacle } from './disk-obstacle.ts'
import { repairMetrics } from './repair-metrics.ts'
import type { Throttle } from './throttle.ts'

export interface RepairEngineOptions {
  readonly nodeId: NodeId
  readonly tasks: Pick<CopyLedger, 'pending' | 'done' | 'copyStatus'>
  readonly store: BlobStore
  /** With `report`, a bad copy found as a source is reported; without it, it is only skipped. */
  readonly blobs: Pick<Blobs, 'copies'> & Partial<Pick<Blobs, 'report'>>
  /** Shared with all components that judge or remove copies of this node. */
  readonly locks: CopyLocks
  /** Shared with all other background work on blobs. */
  readonly throttle: Throttle
  readonly clock: Clock
  readonly logger: Logger
  /** Jitter of retries, [0, 1). Without it there is none. */
  readonly random?: () => number
}

const POLL_MS = 1_000
/** Copies that are made concurrently. */
const TASKS_AT_ONCE = 2
/** Copies that are being made, or are made and not committed yet; each holds its lock. */
const RUNNING_MAX = 256
const TASKS_PER_POLL = 64
/**
 * A poll requests tasks in back-off, and tasks that wait for the disk, in addition, so that hopeless ones never hide the rest; at
 * most this many in all.
 */
const TASKS_PER_POLL_MAX = 1_024

export class RepairEngine {
  readonly #options: RepairEngineOptions
  readonly #backoff: Backoff
  readonly #reports: CopyReports
  readonly #running = new Map<string, Promise<void>>()
  /** The tasks of the last poll, the most urgent first; the first `#taken` of them have been taken. */
  #found: readonly ReplicaTask[] = []
  #taken = 0
  /** There may be more tasks than the last poll found. */
  #isMore = false
  /** The number of running tasks whose copy is not made yet. */
  #making = 0
  /** Tasks that wait because this disk is full or suspect. Only those that are still pending. */
  readonly #waiting = new Set<string>()
  #isLooking = false
  #timer: Timer | null = null
  #started = false
  #pending = 0
  #done = 0
  #failed = 0
  #bytes = 0

  constructor(options: RepairEngineOptions) {
    this.#options = options
    this.#backoff = new Backoff(options.clock, options.random ?? (() => 1))
    const { tasks, clock } = options
    const isMoreComing = (): boolean => this.#making > 0
    this.#reports = new CopyReports({ done: (made) => tasks.done(made), isMoreComing, clock })
  }

  start(): void {
    if (this.#started) return
    this.#started = true
    this.kick()
  }

  /** Polls now instead of at the next interval. Cheap; call it whenever tasks may have appeared. */
  kick(): void {
    if (!this.#started) return
    this.#timer?.cancel()
    this.#timer = this.#options.clock.after(0, () => this.#poll())
  }

  /** Starts no more tasks and resolves when running ones have ended; a copy in progress is aborted. */
  async stop(): Promise<void> {
    this.#started = false
    this.#timer?.cancel()
    await Promise.all(this.#running.values())
  }

  /** The tasks of the last poll, as far as it counted. */
  get pending(): number {
    return this.#pending
  }

  /** The pending tasks that wait because this disk is full or suspect. */
  get waitingForDisk(): number {
    return this.#waiting.size
  }

  metrics(): readonly MetricSample[] {
    return repairMetrics({
      done: this.#done,
      failed: this.#failed,
      bytes: this.#bytes,
      pending: this.#pending,
      waiting: this.#waiting.size,
    })
  }

  // ---------------------------------------------------------------------------------------------

  #poll(): void {
    if (!this.#started) return
    this.#timer = this.#options.clock.after(POLL_MS, () => this.#poll(), true)
    const known = this.#running.size + this.#backoff.size + this.#waiting.size
    const limit = Math.min(TASKS_PER_POLL_MAX, TASKS_PER_POLL + known)
    const tasks = this.#options.tasks.pending(this.#options.nodeId, limit)
    this.#pending = tasks.length
    this.#isMore = tasks.length === limit
    const keys = new Set(tasks.map(keyOf))
    this.#backoff.retain(keys)
    for (const key of this.#waiting) if (!keys.has(key)) this.#waiting.delete(key)
    this.#found = tasks
    this.#taken = 0
    this.#takeNext()
    this.#lookForSpace(tasks)
  }

  #takeNext(): void {
    while (this.#started && this.#making < TASKS_AT_ONCE && this.#running.size < RUNNING_MAX) {
      const task = this.#found[this.#taken]
      if (task === undefined) return
      this.#taken++
      if (this.#isDue(keyOf(task))) this.#run(task)
    }
  }

  /** A long queue is processed without waiting for polls, and without a poll for each of its tasks. */
  #continue(): void {
    this.#takeNext()
    const isProcessed = this.#taken >= this.#found.length
    if (isProcessed && (this.#isMore || this.#running.size === 0)) this.kick()
  }

  #isDue(key: string): boolean {
    return !this.#running.has(key) && !this.#waiting.has(key) && this.#backoff.isDue(key)
  }

  /** Measures the disk once, however many tasks wait for it. */
  #lookForSpace(tasks: readonly ReplicaTask[]): void {
    const waiting = tasks.filter((task) => this.#waiting.has(keyOf(task)))
    if (waiting.length === 0 || this.#isLooking) return
    this.#isLooking = true
    this.#options.store
      .usage()
      .then((usage) => {
        const ready = waiting.filter(({ ref }) => diskObstacle(usage, ref) === null)
        for (const task of ready) this.#waiting.delete(keyOf(task))
        if (ready.length > 0) this.kick()
      })
      .catch((err: unknown) => this.#options.logger.debug({ err }, 'space for repairs not known'))
      .finally(() => {
        this.#isLooking = false
      })
  }

  #run(task: ReplicaTask): void {
    const key = keyOf(task)
    this.#making++
    const end = this.#repair(task)
      .then((isMade) => this.#onDone(task, isMade))
      .catch((cause: unknown) => this.#onFailed(task, cause))
      .then(() => {
        this.#running.delete(key)
        this.#continue()
        this.#reports.look()
      })
    this.#running.set(key, end)
  }

  #onDone(task: ReplicaTask, isMade: boolean): void {
    this.#backoff.succeeded(keyOf(task))
    if (!isMade) return
    this.#done++
    this.#options.logger.info(
      { blob: task.ref.id, birth: task.ref.birth, bytes: task.ref.size },
      'copy repaired',
    )
  }

  #onFailed(task: ReplicaTask, err: unknown): void {
    if (err instanceof StoppedError) return
    if (err instanceof DiskObstacleError) return this.#wait(task, err)
    this.#backoff.failed(keyOf(task))
    this.#failed++
    this.#options.logger.warn({ blob: task.ref.id, birth: task.ref.birth, err }, 'copy not repaired yet')
  }

  /** Logs one line for all waiting tasks, not one for each. */
  #wait(task: ReplicaTask, { obstacle }: DiskObstacleError): void {
    if (this.#waiting.size === 0)
      this.#options.logger.warn({ disk: obstacle, pending: this.#pending }, 'copies wait for this disk')
    this.#waiting.add(keyOf(task))
  }

  /** True if the copy exists now: it is reported, and the next copy is made while the report is committed. */
  #repair(task: ReplicaTask): Promise<boolean> {
    return this.#options.locks.hold(task.ref, async () => {
      const isMade = await this.#make(task).finally(() => {
        this.#making--
        this.#continue()
      })
      if (isMade) await this.#reports.report(task)
      return isMade
    })
  }

  async #make({ ref }: ReplicaTask): Promise<boolean> {
    const { tasks, nodeId } = this.#options
    // The task may have ended since the poll, and with it the permission to write.
    if (tasks.copyStatus(ref, nodeId) !== 'owed') return false
    // A copy that already exists takes no space.
    if (await this.#holds(ref)) return true
    await this.#assertSpace(ref)
    await this.#fetch(ref)
    return true
  }

  /** Reads the whole copy back. A damaged one does not count; the store quarantines it when a good one is written. */
  async #holds(ref: BlobRef): Promise<boolean> {
    const { store } = this.#options
    try {
      const found = await store.verify(ref)
      return found.size === ref.size && found.checksum === ref.checksum
    } catch (cause) {
      if (cause instanceof BlobMissingError || cause instanceof BlobDamagedError) return false
      throw cause
    }
  }

  async #assertSpace(ref: BlobRef): Promise<void> {
    const obstacle = diskObstacle(await this.#options.store.usage(), ref)
    if (obstacle !== null) throw new DiskObstacleError(obstacle)
  }

  async #fetch(ref: BlobRef): Promise<void> {
    const errors: unknown[] = []
    for (const copy of this.#options.blobs.copies(ref)) {
      if (copy.nodeId === this.#options.nodeId) continue
      try {
        await this.#options.store.write(ref, this.#paced(copy, ref), ref)
        // The write hashed the received bytes; only the read-back proves what the disk stored.
        if (await this.#holds(ref)) return
        throw new BlobDamagedError(`Blob "${ref.id}" cannot be read back`)
      } catch (cause) {
        if (cause instanceof StoppedError || isDiskFull(cause)) throw cause
        this.#suspect(ref, copy.nodeId, cause)
        errors.push(cause)
      }
    }
    throw new AggregateError(
      errors,
      `Cannot repair blob "${ref.id}": none of ${errors.length} copies could be copied`,
    )
  }

  async *#paced(copy: BlobCopy, ref: BlobRef): AsyncGenerator<Uint8Array> {
    for await (const piece of copy.read(0, ref.size)) {
      if (!this.#started) throw new StoppedError('Repair was stopped')
      this.#bytes += piece.length
      // A blob with a single copy is copied without waiting for the rate limit.
      if (ref.replicas.length > 1) await this.#options.throttle.pass(piece.length)
      yield piece
    }
  }

  /** The owner judges its copy itself; this report only triggers the check. */
  #suspect(ref: BlobRef, nodeId: NodeId, cause: unknown): void {
    if (cause instanceof BlobMissingError) this.#options.blobs.report?.(ref, nodeId, 'missing')
    const isWrong = cause instanceof BlobWriteError && /^(checksum|size)_mismatch$/.test(cause.code)
    if (isWrong || cause instanceof BlobDamagedError) this.#options.blobs.report?.(ref, nodeId, 'damaged')
  }
}

class StoppedError extends Error {
  override readonly name = 'StoppedError'
}

class DiskObstacleError extends Error {
  override readonly name = 'DiskObstacleError'
  readonly obstacle: 'full' | 'suspect'
  constructor(obstacle: 'full' | 'suspect') {
    super(`Cannot repair a blob: this disk is ${obstacle}`)
    this.obstacle = obstacle
  }
}

/** The bytes from another source would not fit either. */
function isDiskFull(cause: unknown): boolean {
  return cause instanceof BlobWriteError && cause.code === 'disk_full'
}

function keyOf({ ref }: ReplicaTask): string {
  return `${ref.id}.${ref.birth}`
}
