/**
 * Reads the batches of one segment and decides what a bad place means.
 *
 * Owns: the difference between a torn tail and damage. Knows nothing of: other segments, files, replay.
 * Rule: only a batch that cannot have been acknowledged may be dropped. A batch is dropped only when all of this holds:
 *   1. nothing proves that it was flushed: its closing frame cannot be read, no record of a later batch and no later
 *      segment follows, and the hard state files have no batch of its number or a later one;
 *   2. one of its entries is lost: a batch that is complete but for its closing frame is kept, acknowledged or not;
 *   3. missing bytes explain each bad place: the file ends, or a 512-byte sector reads as zeros.
 * Every other bad place is damage. Lost entries become holes with a known index and term. Only where both records of
 * a batch are lost, its entries are unknown: WalCorruptError.
 */
import type { BatchRecord } from './batch-record.ts'
import type { BatchEntries } from './batch-entries.ts'
import { readEntries } from './batch-entries.ts'
import type { BatchReader, ReadBatch, SegmentBytes } from './batch-reader.ts'
import { FRAME_HEADER_BYTES, readFrameHeader, readRecord } from './frame-format.ts'
import { isMissing } from './missing-sectors.ts'
import { SECTOR_BYTES } from './segment-format.ts'
import { WalCorruptError } from './wal-errors.ts'

interface FoundRecord {
  readonly record: BatchRecord
  readonly hasOpening: boolean
  readonly hasClosing: boolean
}

/** The newest batch that the hard state files prove to have been flushed. */
export interface ProvenBatch {
  readonly record: BatchRecord
  /** Number of the segment that it was written to. */
  readonly segment: number
}

export class SegmentReader implements BatchReader {
  readonly #segment: SegmentBytes
  readonly #proven: ProvenBatch | null
  chain: number
  nextBatch: number
  offset: number
  isDamaged = false

  constructor(segment: SegmentBytes, proven: ProvenBatch | null) {
    this.#segment = segment
    this.#proven = proven
    this.chain = segment.head.salt
    this.nextBatch = segment.head.header.firstBatch
    this.offset = segment.head.length
  }

  *batches(): Generator<ReadBatch> {
    for (let batch = this.#next(); batch !== null; batch = this.#next()) yield batch
  }

  #next(): ReadBatch | null {
    const found = this.#findRecord()
    if (found === null) return this.#endWithout()
    const { record } = found
    const end = this.offset + record.sectors * SECTOR_BYTES
    const place = { salt: this.#segment.head.salt, offset: this.offset, chain: this.chain }
    const read = readEntries({ bytes: this.#segment.bytes, record, place })
    if (read.chained === 'never') throw this.#damage('its entries are not those that were written together')
    if (!found.hasClosing && this.#isTorn(read, end)) return null
    this.isDamaged ||= read.chained !== 'as written' || this.#isFrameDamaged(found, end)
    this.chain = record.chain
    this.nextBatch++
    this.offset = end
    return { ...record, entries: read.entries, lost: read.lost }
  }

  /** Null when neither record of the next batch can be read, here or in the hard state files. */
  #findRecord(): FoundRecord | null {
    const opening = this.#recordAt(this.offset, 'opening')
    if (opening !== null) {
      const closing = this.#recordAt(this.offset + (opening.sectors - 1) * SECTOR_BYTES, 'closing')
      return { record: opening, hasOpening: true, hasClosing: closing !== null }
    }
    for (let offset = this.offset; offset < this.#segment.bytes.length; offset += SECTOR_BYTES) {
      const record = this.#recordAt(offset, 'closing')
      if (record === null) continue
      if (offset !== this.offset + (record.sectors - 1) * SECTOR_BYTES) return null
      return { record, hasOpening: false, hasClosing: true }
    }
    const { number } = this.#segment.head.header
    if (this.#proven?.segment !== number || this.#proven.record.number !== this.nextBatch) return null
    return { record: this.#proven.record, hasOpening: false, hasClosing: false }
  }

  /** The record at `offset` if it is one of the next batch. */
  #recordAt(offset: number, kind: 'opening' | 'closing'): BatchRecord | null {
    const { bytes, head } = this.#segment
    const record = readRecord(bytes, offset, { salt: head.salt, kind })
    return record?.number === this.nextBatch ? record : null
  }

  #isTorn({ lost, unreadable }: BatchEntries, end: number): boolean {
    const { bytes } = this.#segment
    if (lost.length === 0 || this.#isProven(end)) return false
    return [...unreadable, { start: end - SECTOR_BYTES, end }].every((range) => isMissing(bytes, range))
  }

  /** An interrupted write may omit one of the two frames. */
  #isFrameDamaged({ hasOpening, hasClosing }: FoundRecord, end: number): boolean {
    if (hasOpening && hasClosing) return false
    const start = hasOpening ? end - SECTOR_BYTES : this.offset
    return this.#isProven(end) || !isMissing(this.#segment.bytes, { start, end: start + SECTOR_BYTES })
  }

  /** True if the next batch was flushed, regardless of its own frames. No batch follows another before that one's flush. */
  #isProven(end: number): boolean {
    const { bytes, head, isLast } = this.#segment
    if (!isLast || (this.#proven !== null && this.#proven.record.number >= this.nextBatch)) return true
    for (let offset = end; offset < bytes.length; offset += SECTOR_BYTES) {
      for (const kind of ['opening', 'closing'] as const) {
        if (readRecord(bytes, offset, { salt: head.salt, kind }) !== null) return true
      }
    }
    return false
  }

  /** The log ends here, or throws when it cannot. */
  #endWithout(): null {
    const { bytes, head, isLast } = this.#segment
    const isAtEnd = this.offset >= bytes.length
    // For a closed segment, the head of the next one shows whether more batches were written.
    if (isAtEnd && !isLast) return null
    if (this.#isProven(this.offset)) throw this.#damage(`batch ${this.nextBatch} was flushed and is lost`)
    const header = readFrameHeader(bytes, this.offset, head.salt + this.offset)
    const end = header?.end ?? this.offset + FRAME_HEADER_BYTES
    if (!isAtEnd && !isMissing(bytes, { start: this.offset, end }))
      throw this.#damage('there are bytes here that no interrupted write leaves')
    return null
  }

  #damage(what: string): WalCorruptError {
    return new WalCorruptError({ file: this.#segment.file, offset: this.offset }, what)
  }
}
