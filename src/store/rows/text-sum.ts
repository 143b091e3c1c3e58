/**
 * CRC-32 of short texts: of a key of some sixty characters the way into the library of Node takes longer than the sum.
 *
 * Owns: the table. Knows nothing of: rows. Rule: it gives what `crc32` of node:zlib gives for the UTF-8 of the text, always.
 */
import { crc32 } from 'node:zlib'

const POLYNOMIAL = 0xedb88320

const TABLE: Int32Array = Int32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte
  for (let bit = 0; bit < 8; bit++) sum = (sum & 1) === 1 ? (sum >>> 1) ^ POLYNOMIAL : sum >>> 1
  return sum
})

/** `from`: where in the text to begin; `sum`: of what comes before. */
export function textSum(text: string, sum = 0, from = 0): number {
  let state = ~sum
  for (let i = from; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit > 0x7f) return crc32(text.slice(from), sum)
    state = (state >>> 8) ^ (TABLE[(state ^ unit) & 0xff] ?? 0)
  }
  return ~state >>> 0
}

/** Of one more byte. */
export function byteSum(byte: number, sum: number): number {
  const state = ~sum
  return ~((state >>> 8) ^ (TABLE[(state ^ byte) & 0xff] ?? 0)) >>> 0
}
