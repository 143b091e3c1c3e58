/**
 * Whole numbers up to 2^53 - 1 as eight little-endian bytes, without BigInt on the write path.
 *
 * Rule: a number that JavaScript cannot hold exactly is never returned.
 */
import assert from 'node:assert/strict'

const HIGH_WORD = 2 ** 32

export function writeU64(bytes: Buffer, value: number, offset: number): void {
  assert(Number.isSafeInteger(value) && value >= 0, 'only safe non-negative integers are written')
  bytes.writeUInt32LE(value % HIGH_WORD, offset)
  bytes.writeUInt32LE(Math.floor(value / HIGH_WORD), offset + 4)
}

export function readU64(bytes: Buffer, offset: number): number {
  const value = bytes.readUInt32LE(offset) + bytes.readUInt32LE(offset + 4) * HIGH_WORD
  assert(Number.isSafeInteger(value), 'only safe integers are read')
  return value
}
