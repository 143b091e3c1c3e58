/**
 * The bytes of a value file. docs/formats/value-file.md
 *
 *   MAGIC, then records, one after the other:
 *   u32le CRC-32 of the eight bytes that follow and of the key
 *   u32le key length
 *   u32le value length
 *   key
 *   value                as it would lie in LevelDB, with a checksum of its own that is bound to the key
 *
 * Owns: this framing, both ways. Knows nothing of: files, pointers.
 * Rule: a length is accepted only when the checksum of its header agrees.
 */
import { crc32 } from 'node:zlib'

/** The last byte is the version of the format. */
export const MAGIC: Buffer = Buffer.from('HFVALUE\u0001', 'latin1')
const CHECKSUM_BYTES = 4
export const HEADER_BYTES = 12

export interface ValueRecord {
  readonly key: Buffer
  readonly value: Buffer
}

export interface RecordHeader {
  readonly key: Buffer
  /** Of the value, from the start of the record. */
  readonly offset: number
  readonly length: number
}

/** Header and key; the value follows. */
export function recordHead(key: Uint8Array, valueBytes: number): Buffer {
  const head = Buffer.allocUnsafe(HEADER_BYTES + key.length)
  head.writeUInt32LE(key.length, CHECKSUM_BYTES)
  head.writeUInt32LE(valueBytes, CHECKSUM_BYTES + 4)
  head.set(key, HEADER_BYTES)
  head.writeUInt32LE(crc32(head.subarray(CHECKSUM_BYTES)), 0)
  return head
}

export function recordBytes(keyBytes: number, valueBytes: number): number {
  return HEADER_BYTES + keyBytes + valueBytes
}

/** Null: `bytes` end before the key does. `torn`: no record begins here. */
export function headerAt(bytes: Buffer): RecordHeader | 'torn' | null {
  if (bytes.length < HEADER_BYTES) return null
  const keyBytes = bytes.readUInt32LE(CHECKSUM_BYTES)
  if (keyBytes > KEY_BYTES_MAX) return 'torn'
  const offset = HEADER_BYTES + keyBytes
  if (bytes.length < offset) return null
  if (crc32(bytes.subarray(CHECKSUM_BYTES, offset)) !== bytes.readUInt32LE(0)) return 'torn'
  return {
    key: bytes.subarray(HEADER_BYTES, offset),
    offset,
    length: bytes.readUInt32LE(CHECKSUM_BYTES + 4),
  }
}

/** Longer ones are damage: a row key holds an object key of 1,024 bytes at most, and ids. */
export const KEY_BYTES_MAX = 64 * 1024
