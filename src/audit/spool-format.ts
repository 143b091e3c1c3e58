/**
 * The layout of a spool file. docs/formats/audit-spool.md (all numbers little-endian)
 *
 *   file    a head, then groups; each group is one write, and durable before the next one begins
 *
 *   head    0  8  magic "HFAUDIT1"
 *           8 16  id of the spool, random
 *          24  4  CRC-32 of bytes 0..23
 *
 *   group   0  4  magic "HFAG"
 *           4  4  length of the payload
 *           8  8  number of its first row within the spool
 *          16  4  count of rows
 *          20  4  CRC-32 of the payload
 *          24  4  CRC-32 of bytes 0..23, seeded with that of the head: a group is whole in its own file only
 *          28     payload: rows as JSON, joined by line feeds
 *
 * Owns: the layout. Knows nothing of: files. Rule: an incomplete group is ignored.
 */
import { crc32 } from 'node:zlib'

export const HEAD_BYTES = 28
const GROUP_HEAD_BYTES = 28
const CHECKED_BYTES = 24
const ID_BYTES = 16
const HEAD_MAGIC = Buffer.from('HFAUDIT1', 'latin1')
const GROUP_MAGIC = Buffer.from('HFAG', 'latin1')

export interface SpoolHead {
  /** Hex. */
  readonly spool: string
  /** CRC of the head. */
  readonly seed: number
}

export interface SpoolGroup {
  readonly first: number
  readonly count: number
  /** Rows joined by line feeds. */
  readonly text: string
  /** Offset of the next group. */
  readonly end: number
}

export function encodeHead(id: Uint8Array): Buffer {
  const bytes = Buffer.alloc(HEAD_BYTES)
  HEAD_MAGIC.copy(bytes)
  bytes.set(id.subarray(0, ID_BYTES), HEAD_MAGIC.length)
  bytes.writeUInt32LE(crc32(bytes.subarray(0, CHECKED_BYTES)), CHECKED_BYTES)
  return bytes
}

/** Null: the head was not written completely, or the file is not a spool. */
export function decodeHead(bytes: Buffer): SpoolHead | null {
  if (bytes.length < HEAD_BYTES || !HEAD_MAGIC.equals(bytes.subarray(0, HEAD_MAGIC.length))) return null
  const seed = bytes.readUInt32LE(CHECKED_BYTES)
  if (crc32(bytes.subarray(0, CHECKED_BYTES)) !== seed) return null
  return { spool: bytes.toString('hex', HEAD_MAGIC.length, CHECKED_BYTES), seed }
}

export function encodeGroup(rows: readonly string[], first: number, seed: number): Buffer {
  const payload = Buffer.from(rows.join('\n'), 'utf8')
  const head = Buffer.alloc(GROUP_HEAD_BYTES)
  GROUP_MAGIC.copy(head)
  head.writeUInt32LE(payload.length, 4)
  head.writeBigUInt64LE(BigInt(first), 8)
  head.writeUInt32LE(rows.length, 16)
  head.writeUInt32LE(crc32(payload), 20)
  head.writeUInt32LE(crc32(head.subarray(0, CHECKED_BYTES), seed), CHECKED_BYTES)
  return Buffer.concat([head, payload])
}

/** Null: no whole group begins at `offset`. */
export function decodeGroup(bytes: Buffer, offset: number, seed: number): SpoolGroup | null {
  const start = offset + GROUP_HEAD_BYTES
  if (start > bytes.length) return null
  const head = bytes.subarray(offset, start)
  if (!GROUP_MAGIC.equals(head.subarray(0, GROUP_MAGIC.length))) return null
  if (crc32(head.subarray(0, CHECKED_BYTES), seed) !== head.readUInt32LE(CHECKED_BYTES)) return null
  const payload = bytes.subarray(start, start + head.readUInt32LE(4))
  if (payload.length !== head.readUInt32LE(4) || crc32(payload) !== head.readUInt32LE(20)) return null
  return {
    first: Number(head.readBigUInt64LE(8)),
    count: head.readUInt32LE(16),
    text: payload.toString('utf8'),
    end: start + payload.length,
  }
}

/** The next whole group after an incomplete one; null: only a torn end follows. */
export function nextGroup(bytes: Buffer, offset: number, seed: number): SpoolGroup | null {
  for (let at = bytes.indexOf(GROUP_MAGIC, offset + 1); at !== -1; at = bytes.indexOf(GROUP_MAGIC, at + 1)) {
    const group = decodeGroup(bytes, at, seed)
    if (group !== null) return group
  }
  return null
}
