/**
 * Fill levels of a disk, and what a node does at each.
 *
 * Owns: the levels and their consequences. Knows nothing of: disks.
 * Rule: a level is a function of two numbers, so that every part of a node draws the same conclusion.
 */

/**
 * `stopPlacing`: other nodes are preferred for new blobs. `stopWriting`: no new blob. `reserve`: the remaining space is for
 * removal and for compaction, which needs space before it frees any.
 */
export type DiskLevel = 'open' | 'stopPlacing' | 'stopWriting' | 'reserve'

/** A node's report on its disk. */
export interface DiskView {
  readonly level: DiskLevel
  /** The disk failed several operations in a row; see DiskHealth. */
  readonly isSuspect: boolean
}

/** What this user can still write and has in all, of a file system. */
export interface DiskSize {
  readonly totalBytes: number
  readonly freeBytes: number
}

/** Reached when so much of the disk is used AND fewer bytes than these are free: a share of a large disk is a lot of space. */
export interface DiskThreshold {
  /** From 0 to 1. */
  readonly usedShare: number
  readonly freeBytes: number
}

/** For each level, from where it is in force. */
export interface DiskThresholds {
  readonly stopPlacing: DiskThreshold
  readonly stopWriting: DiskThreshold
  readonly reserve: DiskThreshold
}

const GIB = 1024 ** 3

export const DISK_THRESHOLDS: DiskThresholds = {
  stopPlacing: { usedShare: 0.85, freeBytes: 60 * GIB },
  stopWriting: { usedShare: 0.92, freeBytes: 30 * GIB },
  reserve: { usedShare: 0.95, freeBytes: 15 * GIB },
}

const LEVELS = ['open', 'stopPlacing', 'stopWriting', 'reserve'] as const

export function diskLevel(size: DiskSize, thresholds: DiskThresholds): DiskLevel {
  if (hasReached(size, thresholds.reserve)) return 'reserve'
  if (hasReached(size, thresholds.stopWriting)) return 'stopWriting'
  return hasReached(size, thresholds.stopPlacing) ? 'stopPlacing' : 'open'
}

export function hasReached(size: DiskSize, threshold: DiskThreshold): boolean {
  return usedShare(size) >= threshold.usedShare && size.freeBytes < threshold.freeBytes
}

/** How much can be written until the threshold is reached. */
export function bytesBefore(size: DiskSize, { usedShare: share, freeBytes }: DiskThreshold): number {
  return Math.max(0, size.freeBytes - Math.min((1 - share) * size.totalBytes, freeBytes))
}

/** From 0 to 1. */
export function usedShare({ totalBytes, freeBytes }: DiskSize): number {
  return totalBytes > 0 ? 1 - freeBytes / totalBytes : 1
}

/** Halfway from the threshold to a disk without any space. */
export function halfOfTheRest({ usedShare: share, freeBytes }: DiskThreshold): DiskThreshold {
  return { usedShare: (1 + share) / 2, freeBytes: freeBytes / 2 }
}

export function takesNewBlobs(level: DiskLevel): boolean {
  return severityOf(level) < severityOf('stopWriting')
}

export function isDiskLevel(value: unknown): value is DiskLevel {
  return LEVELS.some((level) => level === value)
}

/** 0 is `open`; a disk of a higher severity accepts less. */
export function severityOf(level: DiskLevel): number {
  return LEVELS.indexOf(level)
}

/** Throws RangeError unless the thresholds rise with the levels. */
export function assertThresholds({ stopPlacing, stopWriting, reserve }: DiskThresholds): void {
  const inOrder = [stopPlacing, stopWriting, reserve]
  const shares = [0, ...inOrder.map((threshold) => threshold.usedShare), 1]
  const bytes = [...inOrder.map((threshold) => threshold.freeBytes), 0]
  const doShares = shares.every((share, n) => share <= (shares[n + 1] ?? 1))
  if (stopPlacing.usedShare > 0 && doShares && bytes.every((each, n) => each >= (bytes[n + 1] ?? 0))) return
  throw new RangeError(
    `Invalid disk thresholds ${JSON.stringify(inOrder)}: expected shares of the disk in rising order, and free bytes in falling order`,
  )
}
