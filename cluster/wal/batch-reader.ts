/**
 * The interface of the readers of both format versions for the recovery.
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

/** A batch that counts. Its lost entries are in `entries` without data. */
export interface ReadBatch extends LoggedBatch {
  readonly lost: readonly LostEntry[]
}

export interface BatchReader {
  /** Chain value after the last batch read. */
  readonly chain: number
  readonly nextBatch: number
  /** Where the next batch begins; after `batches()` the end of the last batch that counts. */
  readonly offset: number
  /** Some of the bytes read so far are damaged, even if no entry was lost by it. */
  readonly isDamaged: boolean
  /** In order. Entry data are views into the bytes of the segment. */
  batches(): Generator<ReadBatch>
}
