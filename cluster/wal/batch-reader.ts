/**
 * What the readers of both format versions give to the recovery.
 */
import type { LoggedBatch } from './frame-format.ts'
import type { LostEntry } from './lost-entry.ts'
import type { DecodedHeader } from './segment-format.ts'

export interface SegmentBytes {
  readonly file: string
  readonly bytes: Buffer
  readonly head: DecodedHeader
  readonly isLast: boolean
}

/** A batch as it counts. Its lost entries stand in `entries` without data. */
export interface ReadBatch extends LoggedBatch {
  readonly lost: readonly LostEntry[]
}

export interface BatchReader {
  /** Chain value after the last batch read. */
  readonly chain: number
  readonly nextBatch: number
  /** Where the next batch begins; after `batches()` the end of what counts. */
  readonly offset: number
  /** Something in what was read is damaged, although nothing of it may be lost. */
  readonly isDamaged: boolean
  /** In order. Entry data are views into the bytes of the segment. */
  batches(): Generator<ReadBatch>
}
