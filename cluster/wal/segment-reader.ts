/**
 * Reads the batches of one segment and decides what a bad frame means.
 *
 * Owns: the difference between a torn tail and damage. Knows nothing of: other segments, files, replay.
 * Rule: only what cannot have been acknowledged may be dropped. A bad frame is a torn tail when all of this holds,
 * and damage (WalCorruptError) otherwise:
 *   1. it is in the last segment of the log;
 *   2. no intact commit frame follows it anywhere, so its batch has none and nothing later was committed;
 *   3. missing bytes explain it: the file ends inside of it, or a 512-byte sector of it holds nothing but zeros.
 * By 3 a flipped bit in the very last commit frame is damage, not a torn tail: a write that was cut short leaves bytes
 * out, it does not change them. The price is a node that refuses to start when a disk leaves foreign bytes behind after
 * a power cut; its peers have the data, whereas a silently lost acknowledgement could never be told again.
 */
import assert from 'node:assert/strict'
import type { Entry } from '../raft/types.ts'
import type { Frame, LoggedBatch } from './frame-format.ts'
import { decodeCommit, decodeFrame, FRAME_HEADER_BYTES, isCommitFrame } from './frame-format.ts'
import type { DecodedHeader } from './segment-format.ts'
import { WalCorruptError } from './wal-errors.ts'

export interface SegmentBytes {
  readonly file: string
  readonly bytes: Buffer
  readonly head: DecodedHeader
  readonly isLast: boolean
}

const SECTOR_BYTES = 512

export class SegmentReader {
  readonly #segment: SegmentBytes
  /** Chain value after the last batch read. */
  chain: number
  nextBatch: number
  /** Where the next frame begins; after `batches()` the end of what is valid. */
  offset: number

  constructor(segment: SegmentBytes) {
    this.#segment = segment
    this.chain = segment.head.salt
    this.nextBatch = segment.head.header.firstBatch
    this.offset = segment.head.length
  }

  /** Committed batches in order. Entry data are views into the bytes of the segment. */
  *batches(): Generator<LoggedBatch> {
    for (let batch = this.#next(); batch !== null; batch = this.#next()) yield batch
  }

  #next(): LoggedBatch | null {
    const { bytes, head } = this.#segment
    const entries: Entry[] = []
    for (let offset = this.offset; offset < bytes.length; ) {
      const frame = decodeFrame(bytes, offset, head.salt)
      if ('badEnd' in frame) return this.#drop({ start: offset, end: frame.badEnd })
      if (frame.kind === 'commit') return this.#commit(offset, frame, entries)
      entries.push({ index: frame.index, term: frame.term, kind: frame.kind, data: frame.payload })
      offset = frame.end
    }
    if (entries.length > 0) this.#drop({ start: bytes.length, end: bytes.length + FRAME_HEADER_BYTES })
    return null
  }

  #commit(offset: number, frame: Frame, entries: readonly Entry[]): LoggedBatch {
    const commit = decodeCommit(frame, this.#segment.bytes.subarray(this.offset, offset), this.chain)
    if (typeof commit === 'string') throw this.#damage(offset, commit)
    if (commit.entryCount !== entries.length) throw this.#damage(offset, 'a batch lacks entries')
    if (commit.number !== this.nextBatch)
      throw this.#damage(offset, `batch ${commit.number} stands where ${this.nextBatch} belongs`)
    this.chain = commit.chain
    this.nextBatch++
    this.offset = frame.end
    return { ...commit, entries }
  }

  /** Gives the uncommitted tail up, or throws when it is none. */
  #drop(bad: Range): null {
    const { bytes, head, isLast } = this.#segment
    if (!isLast) throw this.#damage(bad.start, 'a frame is damaged and later segments follow')
    if (hasCommitFrom(bytes, bad.start, head.salt))
      throw this.#damage(bad.start, 'a frame is damaged and a commit follows')
    if (bad.end <= bytes.length && !hasMissingSector(bytes, bad)) {
      throw this.#damage(bad.start, 'a frame is damaged in a way that no interrupted write explains')
    }
    return null
  }

  #damage(offset: number, what: string): WalCorruptError {
    return new WalCorruptError({ file: this.#segment.file, offset }, what)
  }
}

interface Range {
  readonly start: number
  readonly end: number
}

function hasCommitFrom(bytes: Buffer, start: number, salt: number): boolean {
  for (let offset = start; offset + FRAME_HEADER_BYTES <= bytes.length; offset += 8) {
    if (isCommitFrame(bytes, offset, salt)) return true
  }
  return false
}

/** A sector counts from the bad frame on: what stands before it in the same sector was written earlier. */
function hasMissingSector(bytes: Buffer, bad: Range): boolean {
  assert(bad.end <= bytes.length, 'a frame that is cut off needs no other explanation')
  for (let start = bad.start; start < bad.end; ) {
    const end = Math.min((Math.floor(start / SECTOR_BYTES) + 1) * SECTOR_BYTES, bytes.length)
    if (isZero(bytes.subarray(start, end))) return true
    start = end
  }
  return false
}

function isZero(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0)
}
