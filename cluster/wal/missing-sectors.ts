/**
 * Distinguishes bytes that were never written from bytes that changed.
 *
 * Owns: the traces of an interrupted write: sectors that read as zeros, or a file that ends early.
 * Rule: an interrupted write omits bytes, it does not change them.
 */
import { SECTOR_BYTES } from './segment-format.ts'

export interface ByteRange {
  readonly start: number
  readonly end: number
}

const ZEROS = Buffer.alloc(SECTOR_BYTES)

/** True if missing bytes explain that the range cannot be read, where its sectors belong to only one batch. */
export function isMissing(bytes: Buffer, { start, end }: ByteRange): boolean {
  return isMissingFrom(bytes, { start: Math.floor(start / SECTOR_BYTES) * SECTOR_BYTES, end })
}

/** The same where the sector of `start` may hold bytes of an earlier write before `start`. */
export function isMissingFrom(bytes: Buffer, { start, end }: ByteRange): boolean {
  if (end > bytes.length) return true
  for (let from = start; from < end; ) {
    const next = (Math.floor(from / SECTOR_BYTES) + 1) * SECTOR_BYTES
    if (isZero(bytes.subarray(from, next))) return true
    from = next
  }
  return false
}

function isZero(bytes: Buffer): boolean {
  return bytes.equals(ZEROS.subarray(0, bytes.length))
}
