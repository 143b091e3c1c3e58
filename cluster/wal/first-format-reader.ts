/**
 * Reads the batches of a segment of format version 1, which is no longer written.
 *
 * Owns: the layout below (all numbers little-endian). Knows nothing of: other segments, files, replay.
 * Rule: as in segment-reader.ts, but this format has too little information to continue after damage, so damage is refused.
 * A bad frame is a torn tail only in the last segment, without a commit frame after it, and when missing bytes explain it.
 * A log leaves this format at its first start: the last segment is copied, and compactions delete the older ones.
 *
 *   batch      entry frames, then a commit frame; frames begin at multiples of 8
 *   frame      as in version 2, but its header check is seeded with only the salt; kind 16 is a commit
 *   commit     0  8  batch number
 *   payload    8  8  current term
 *             16 16  base: index, term
 *             32  1  base rule
 *             33  1  1 = a vote is present
 *             34  2  length of votedFor
 *             36  4  number of entries in the batch
 *             40     votedFor, then zeros up to a multiple of 8
 *             -8  4  chain: CRC32C of the entry frames and of this payload so far, seeded with the one before
 *             -4  4  mark "DONE"
 */
import { crc32c } from '@node-rs/crc32'
import type { Entry } from '../raft/types.ts'
import type { BatchReader, ReadBatch, SegmentBytes } from './batch-reader.ts'
import { baseRuleOf } from './batch-record.ts'
import type { FrameHeader } from './frame-format.ts'
import { FRAME_HEADER_BYTES, readFrameHeader, readPayload } from './frame-format.ts'
import type { ByteRange } from './missing-sectors.ts'
import { isMissingFrom } from './missing-sectors.ts'
import { readU64 } from './u64.ts'
import { WalCorruptError } from './wal-errors.ts'

const VOTE_OFFSET = 40
const TRAILER_BYTES = 8

export class FirstFormatReader implements BatchReader {
  readonly #segment: SegmentBytes
  readonly isDamaged = false
  chain: number
  nextBatch: number
  offset: number

  constructor(segment: SegmentBytes) {
    this.#segment = segment
    this.chain = segment.head.salt
    this.nextBatch = segment.head.header.firstBatch
    this.offset = segment.head.length
  }

  *batches(): Generator<ReadBatch> {
    for (let batch = this.#next(); batch !== null; batch = this.#next()) yield batch
  }

  #next(): ReadBatch | null {
    const { bytes } = this.#segment
    const entries: Entry[] = []
    for (let offset = this.offset; offset < bytes.length; ) {
      const header = this.#headerAt(offset)
      if (header === null) return this.#drop({ start: offset, end: offset + FRAME_HEADER_BYTES })
      const payload = header.end <= bytes.length ? readPayload(bytes, header) : null
      if (payload === null) return this.#drop({ start: offset, end: header.end })
      const { kind, index, term } = header
      if (kind === 'closing' || kind === 'opening') return this.#commit(offset, header, { payload, entries })
      entries.push({ index, term, kind, data: payload })
      offset = header.end
    }
    if (entries.length > 0) this.#drop({ start: bytes.length, end: bytes.length + FRAME_HEADER_BYTES })
    return null
  }

  #headerAt(offset: number): FrameHeader | null {
    return readFrameHeader(this.#segment.bytes, offset, this.#segment.head.salt)
  }

  #commit(offset: number, { index, term, end }: FrameHeader, read: CommitToRead): ReadBatch {
    const { payload, entries } = read
    const number = readU64(payload, 0)
    const frames = this.#segment.bytes.subarray(this.offset, offset)
    const chain = crc32c(payload.subarray(0, payload.length - TRAILER_BYTES), crc32c(frames, this.chain))
    if (chain !== payload.readUInt32LE(payload.length - TRAILER_BYTES))
      throw this.#damage(offset, 'a batch does not match the check value in its commit frame')
    if (number !== this.nextBatch)
      throw this.#damage(offset, `batch ${number} is in the place of batch ${this.nextBatch}`)
    this.chain = chain
    this.nextBatch++
    this.offset = end
    return { number, ...stateIn(payload), last: { index, term }, entries, lost: [] }
  }

  /** Drops the uncommitted tail, or throws when the bad frame is damage. */
  #drop(bad: ByteRange): null {
    const { bytes, isLast } = this.#segment
    if (!isLast) throw this.#damage(bad.start, 'a frame is damaged and later segments follow')
    if (this.#hasCommitFrom(bad.start))
      throw this.#damage(bad.start, 'a frame is damaged and a commit follows')
    if (!isMissingFrom(bytes, bad))
      throw this.#damage(bad.start, 'a frame is damaged in a way that no interrupted write explains')
    return null
  }

  #hasCommitFrom(start: number): boolean {
    const { bytes } = this.#segment
    for (let offset = start; offset + FRAME_HEADER_BYTES <= bytes.length; offset += 8) {
      const header = this.#headerAt(offset)
      if (header?.kind === 'closing' && readPayload(bytes, header) !== null) return true
    }
    return false
  }

  #damage(offset: number, what: string): WalCorruptError {
    return new WalCorruptError({ file: this.#segment.file, offset }, what)
  }
}

interface CommitToRead {
  readonly payload: Buffer
  readonly entries: readonly Entry[]
}

function stateIn(payload: Buffer): Pick<ReadBatch, 'baseRule' | 'base' | 'hardState'> {
  const vote = payload.toString('utf8', VOTE_OFFSET, VOTE_OFFSET + payload.readUInt16LE(34))
  return {
    baseRule: baseRuleOf(payload.readUInt8(32)),
    base: { index: readU64(payload, 16), term: readU64(payload, 24) },
    hardState: { currentTerm: readU64(payload, 8), votedFor: payload.readUInt8(33) === 0 ? null : vote },
  }
}
