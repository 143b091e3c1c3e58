/**
 * Counts the disk operations of the log, around any FileOps.
 *
 * Knows nothing of: segments, metrics libraries. Rule: an operation that throws is not counted.
 */
import { bucketOf, LATENCY_BOUNDS } from '../base/latency-histogram.ts'
import type { FileOps } from './file-ops.ts'

export interface WalMetrics {
  /** Flushes of files, data only or whole. */
  readonly fsyncs: number
  readonly fsyncSecondsTotal: number
  /** The flushes by their time, in the buckets of `LATENCY_BOUNDS`. */
  readonly fsyncCounts: readonly number[]
  /** Bytes written, framing included. */
  readonly bytes: number
  /** Space reserved for a full disk; 0 when none could be reserved, or the reserve was released. */
  readonly reserveBytes: number
}

export const NO_METRICS: WalMetrics = {
  fsyncs: 0,
  fsyncSecondsTotal: 0,
  fsyncCounts: [...LATENCY_BOUNDS, Infinity].map(() => 0),
  bytes: 0,
  reserveBytes: 0,
}

export class MeasuredFileOps implements FileOps {
  readonly #files: FileOps
  /** Monotonic milliseconds. */
  readonly #now: () => number
  #metrics: WalMetrics = NO_METRICS

  constructor(files: FileOps, now: () => number) {
    this.#files = files
    this.#now = now
  }

  metrics(): WalMetrics {
    return this.#metrics
  }

  makeDir(path: string): void {
    this.#files.makeDir(path)
  }

  list(dir: string): readonly string[] {
    return this.#files.list(dir)
  }

  size(path: string): number {
    return this.#files.size(path)
  }

  freeBytes(dir: string): number {
    return this.#files.freeBytes(dir)
  }

  read(path: string, bytesMax: number): Uint8Array {
    return this.#files.read(path, bytesMax)
  }

  readAt(path: string, position: number, bytesMax: number): Uint8Array {
    return this.#files.readAt(path, position, bytesMax)
  }

  create(path: string): number {
    return this.#files.create(path)
  }

  write(fd: number, bytes: Uint8Array, position: number): number {
    const count = this.#files.write(fd, bytes, position)
    this.#metrics = { ...this.#metrics, bytes: this.#metrics.bytes + count }
    return count
  }

  fdatasync(fd: number): void {
    this.#timed(() => this.#files.fdatasync(fd))
  }

  fsync(fd: number): void {
    this.#timed(() => this.#files.fsync(fd))
  }

  close(fd: number): void {
    this.#files.close(fd)
  }

  rename(from: string, to: string): void {
    this.#files.rename(from, to)
  }

  unlink(path: string): void {
    this.#files.unlink(path)
  }

  syncDir(path: string): void {
    this.#files.syncDir(path)
  }

  protected noteReserve(reserveBytes: number): void {
    this.#metrics = { ...this.#metrics, reserveBytes }
  }

  #timed(flush: () => void): void {
    const start = this.#now()
    flush()
    const seconds = (this.#now() - start) / 1000
    const { fsyncs, fsyncSecondsTotal } = this.#metrics
    const fsyncCounts = [...this.#metrics.fsyncCounts]
    const at = bucketOf(seconds)
    fsyncCounts[at] = (fsyncCounts[at] ?? 0) + 1
    this.#metrics = {
      ...this.#metrics,
      fsyncs: fsyncs + 1,
      fsyncSecondsTotal: fsyncSecondsTotal + seconds,
      fsyncCounts,
    }
  }
}
