/**
 * Whether the disk has space for another blob, measured often enough but not for every blob.
 *
 * Rule: while writes are refused, the disk is measured for each of them, so that freed space is noticed at once.
 */
import { BlobWriteError, type DiskUsage } from '../base/blob-store.ts'
import {
  assertThresholds,
  diskLevel,
  type DiskThresholds,
  severityOf,
  takesNewBlobs,
} from '../../base/disk-level.ts'
import type { FileOps } from '../../base/file-ops.ts'
import type { DiskHealth } from './watched-file-ops.ts'

/** This many bytes may be written before the disk is measured again. */
const BYTES_BETWEEN = 16 * 1024 * 1024

export interface DiskSpaceParts {
  readonly ops: FileOps
  readonly path: string
  readonly thresholds: DiskThresholds
  readonly health: DiskHealth
  /** The part of the free bytes of a disk of this size that blobs may not use. */
  readonly heldBackBytes?: (totalBytes: number) => number
}

export class DiskSpace {
  readonly #parts: DiskSpaceParts
  #last: DiskUsage | null = null
  #bytesSince = 0

  constructor(parts: DiskSpaceParts) {
    assertThresholds(parts.thresholds)
    this.#parts = parts
  }

  async usage(): Promise<DiskUsage> {
    const { ops, path, thresholds, health, heldBackBytes = () => 0 } = this.#parts
    const found = await ops.diskUsage(path)
    const { totalBytes } = found
    const freeBytes = Math.max(0, found.freeBytes - heldBackBytes(totalBytes))
    const level = diskLevel({ totalBytes, freeBytes }, thresholds)
    const { isSuspect, doubt } = health
    const isLess = isSuspect && severityOf(level) < severityOf('stopPlacing')
    this.#bytesSince = 0
    const state = { totalBytes, freeBytes, level: isLess ? ('stopPlacing' as const) : level, isSuspect }
    this.#last = doubt === null ? state : { ...state, doubt }
    return this.#last
  }

  /**
   * For a compaction, which takes space before it frees any: half of the free bytes, so that it never fills the disk,
   * however full it is. Beyond that it writes only a few rows for each record, and a removal needs only such rows.
   */
  async bytesToSpare(): Promise<number> {
    return (await this.usage()).freeBytes / 2
  }

  /** Throws BlobWriteError `disk_full` while the level takes no new blob. */
  async admit(bytes: number): Promise<void> {
    this.#bytesSince += bytes
    const known = this.#bytesSince <= BYTES_BETWEEN ? this.#last : null
    const { level, freeBytes } = known && takesNewBlobs(known.level) ? known : await this.usage()
    if (takesNewBlobs(level)) return
    const left = `${Math.floor(freeBytes / 1024 ** 2)} MiB are left`
    throw new BlobWriteError(
      'disk_full',
      `Cannot write a blob: the disk is nearly full, ${left}; free space or add a disk`,
    )
  }
}
