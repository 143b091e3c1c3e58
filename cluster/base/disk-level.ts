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

/** For each level, the used share of the disk, from 0 to 1, from which it is in force. */
export interface DiskThresholds {
  readonly stopPlacing: number
  readonly stopWriting: number
  readonly reserve: number
}

export const DISK_THRESHOLDS: DiskThresholds = { stopPlacing: 0.85, stopWriting: 0.92, reserve: 0.95 }

const LEVELS = ['open', 'stopPlacing', 'stopWriting', 'reserve'] as const

export function diskLevel(
  { totalBytes, freeBytes }: { readonly totalBytes: number; readonly freeBytes: number },
  thresholds: DiskThresholds,
): DiskLevel {
  const used = totalBytes > 0 ? 1 - freeBytes / totalBytes : 1
  if (used >= thresholds.reserve) return 'reserve'
  if (used >= thresholds.stopWriting) return 'stopWriting'
  return used >= thresholds.stopPlacing ? 'stopPlacing' : 'open'
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
  if (0 < stopPlacing && stopPlacing <= stopWriting && stopWriting <= reserve && reserve <= 1) return
  throw new RangeError(
    `Invalid disk thresholds ${stopPlacing}, ${stopWriting}, ${reserve}: expected shares of the disk in rising order`,
  )
}
