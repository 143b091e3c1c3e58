/**
 * Tells bytes that were never written from bytes that changed.
 *
 * Owns: what an interrupted write can leave behind: sectors that read as zeros, or a file that ends early.
 * Rule: a write that is cut short leaves bytes out, it does not change them.
 */
import { SECTOR_BYTES } from './segment-format.ts'

export interface ByteRange {
  readonly start: number
  readonly end: number
}

const ZEROS = Buffer.alloc(SECTOR_BYTES)

/** Whether missing bytes explain that the range cannot be read, where the sectors in it belong to one batch alone. */
export function isMissing(bytes: Buffer, { start, end }: ByteRange): boolean {
  return isMissingFrom(bytes, { start: Math.floor(start / SECTOR_BYTES) * SECTOR_BYTES, end })
}

/** The same where bytes of an earlier write may stand before `start` in its sector. */
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
