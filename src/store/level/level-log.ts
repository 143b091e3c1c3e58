/**
 * The log format of LevelDB, in which its write-ahead log and its manifest are written: doc/log_format.md of LevelDB.
 *
 *   blocks of 32 KiB; in them records: u32le masked CRC-32C over kind and data, u16le length, u8 kind, data
 *
 * Owns: reading it, and distinguishing a torn end from damage. Knows nothing of: what the entries mean.
 * Rule: bytes that do not verify are a torn end only if no entry begins after them; LevelDB drops them silently in both cases. What was
 * not flushed may be torn anywhere: level-tail.ts cuts such a log before it is judged.
 */
import { agreesWith } from './level-bytes.ts'

const BLOCK_BYTES = 32 * 1024
const HEADER_BYTES = 7
const FULL = 1
const FIRST = 2
const LAST = 4

export interface LogContent {
  readonly entries: readonly Buffer[]
  /** Of each entry, where it ends in the file. */
  readonly ends: readonly number[]
  /** Bytes after the last entry that verifies do not verify, or are half of an entry. */
  readonly isTorn: boolean
  /** Bytes that do not verify stand before an entry that does. */
  readonly isDamaged: boolean
}

interface Fragment {
  readonly kind: number
  readonly data: Buffer
  readonly end: number
}

export function readLog(bytes: Buffer): LogContent {
  const entries: Buffer[] = []
  const ends: number[] = []
  let parts: Buffer[] = []
  let at = recordAt(bytes, 0)
  for (let one = fragmentAt(bytes, at); one !== null; one = fragmentAt(bytes, at)) {
    const isBeginning = one.kind === FULL || one.kind === FIRST
    if (isBeginning !== (parts.length === 0)) return { entries, ends, isTorn: true, isDamaged: true }
    parts.push(one.data)
    if (one.kind === FULL || one.kind === LAST) {
      entries.push(Buffer.concat(parts))
      ends.push(one.end)
      parts = []
    }
    at = recordAt(bytes, one.end)
  }
  const isTorn = at < bytes.length || parts.length > 0
  return { entries, ends, isTorn, isDamaged: entryBeginsAfter(bytes, at) }
}

/** Where the next record begins: the rest of a block may be too short for one. */
function recordAt(bytes: Buffer, at: number): number {
  const left = BLOCK_BYTES - (at % BLOCK_BYTES)
  return Math.min(left < HEADER_BYTES ? at + left : at, bytes.length)
}

function fragmentAt(bytes: Buffer, at: number): Fragment | null {
  const begin = at + HEADER_BYTES
  if (begin > bytes.length) return null
  const kind = bytes.readUInt8(begin - 1)
  const end = begin + bytes.readUInt16LE(at + 4)
  const blockEnd = at - (at % BLOCK_BYTES) + BLOCK_BYTES
  if (kind < FULL || kind > LAST || end > bytes.length || end > blockEnd) return null
  if (!agreesWith(bytes.readUInt32LE(at), bytes.subarray(begin - 1, end))) return null
  return { kind, data: bytes.subarray(begin, end), end }
}

/** A damaged length does not lead to the next record: every place is tried. */
function entryBeginsAfter(bytes: Buffer, bad: number): boolean {
  for (let at = bad + 1; at + HEADER_BYTES <= bytes.length; at++) {
    const kind = bytes.readUInt8(at + HEADER_BYTES - 1)
    if ((kind === FULL || kind === FIRST) && fragmentAt(bytes, at) !== null) return true
  }
  return false
}
