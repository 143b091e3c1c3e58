/**
 * How full a disk is, as a decision.
 *
 * Owns: the levels and what follows from each. Knows nothing of: disks.
 * Rule: a level is a function of two numbers, so that every part of a node draws the same conclusion.
 */

/**
 * `stopPlacing`: others should be asked first. `stopWriting`: no new blob. `reserve`: what is left is for removing and for
 * compacting, which needs room before it gives any back.
 */
export type DiskLevel = 'open' | 'stopPlacing' | 'stopWriting' | 'reserve'

/** What a node says of its disk. */
export interface DiskView {
  readonly level: DiskLevel
  /** It failed several operations in a row; see DiskHealth. */
  readonly isSuspect: boolean
}

/** Used part of the disk, from 0 to 1, from which each level is in force. */
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

/** 0 is `open`; a higher one takes less. */
export function severityOf(level: DiskLevel): number {
  return LEVELS.indexOf(level)
}

/** Throws RangeError unless the levels come in their order. */
export function assertThresholds({ stopPlacing, stopWriting, reserve }: DiskThresholds): void {
  if (0 < stopPlacing && stopPlacing <= stopWriting && stopWriting <= reserve && reserve <= 1) return
  throw new RangeError(
    `Invalid disk thresholds ${stopPlacing}, ${stopWriting}, ${reserve}: expected shares of the disk in rising order`,
  )
}
