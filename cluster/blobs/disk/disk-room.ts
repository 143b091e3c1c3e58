/**
 * How much may still be put on the disk, asked often enough and not for every blob.
 *
 * Rule: while writes are refused the disk is asked each time, so that freed room is noticed at once.
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

/** So much may be written before the disk is asked again. */
const BYTES_BETWEEN = 16 * 1024 * 1024

export interface DiskRoomParts {
  readonly ops: FileOps
  readonly path: string
  readonly thresholds: DiskThresholds
  readonly health: DiskHealth
  /** Of the free bytes of such a disk: not for blobs. */
  readonly heldBackBytes?: (totalBytes: number) => number
}

export class DiskRoom {
  readonly #parts: DiskRoomParts
  #last: DiskUsage | null = null
  #bytesSince = 0

  constructor(parts: DiskRoomParts) {
    assertThresholds(parts.thresholds)
    this.#parts = parts
  }

  async usage(): Promise<DiskUsage> {
    const { ops, path, thresholds, health, heldBackBytes = () => 0 } = this.#parts
    const found = await ops.diskUsage(path)
    const { totalBytes } = found
    const freeBytes = Math.max(0, found.freeBytes - heldBackBytes(totalBytes))
    const level = diskLevel({ totalBytes, freeBytes }, thresholds)
    const { isSuspect } = health
    const isLess = isSuspect && severityOf(level) < severityOf('stopPlacing')
    this.#bytesSince = 0
    this.#last = { totalBytes, freeBytes, level: isLess ? 'stopPlacing' : level, isSuspect }
    return this.#last
  }

  /**
   * For a compaction, which takes room before it gives any back: half of what is left, so that it never fills the disk,
   * however full it is. What else may be written then is a few rows for each record, and removing needs only those.
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
