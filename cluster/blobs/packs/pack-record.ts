/**
 * The bytes of a pack: a head, then records, each of them aligned to sectors. Integers are little-endian.
 *
 * Head, one sector, stored twice:          Record: a header, the blob, zeros up to a whole sector.
 *    0   8  magic "HFPACK\r\n"                0   8  magic "HFRECD\r\n"
 *    8   4  format version, 1                 8 178  as in a blob file (blob-header.ts), without its magic
 *   12   4  number of the pack              186   4  number of the pack
 *   16  16  salt                            190   8  offset of the record in the pack
 *   32 476  zeros                           198   4  number of the batch
 *  508   4  CRC-32 of bytes [0, 508)        202   1  kind: 1 a blob, 2 the end of the pack
 *                                           203   8  offset of the first record of the batch
 *                                           211  41  zeros
 *                                           252   4  CRC-32 of bytes [0, 252), seeded with the CRC-32 of the salt
 *
 * Rule: a header is valid only at its own place in its own pack. A client that uploads a blob cannot know the salt, so bytes of a
 * blob are never taken for a record, and a sector that the disk wrote to a wrong place never for the one that belongs there.
 */
import { crc32 } from 'node:zlib'
import type { BlobName } from '../../base/types.ts'
import { HEADER_BYTES, readNamedContent, writeNamedContent } from '../base/blob-header.ts'
import { parseFileName } from '../base/blob-name.ts'
import type { BlobContent } from '../base/blob-store.ts'

export const SECTOR_BYTES = 512
/** Two heads. */
export const PACK_HEAD_BYTES = 1024
export const SALT_BYTES = 16

const PACK_MAGIC = Buffer.from('HFPACK\r\n', 'latin1')
const RECORD_MAGIC = Buffer.from('HFRECD\r\n', 'latin1')
const VERSION = 1
const HEAD_CRC_AT = 508
const CRC_AT = 252
const BLOB = 1
const END = 2
const NO_NAME: BlobName = { id: '', birth: '' }
const NO_CONTENT: BlobContent = { size: 0, checksum: '0'.repeat(64) }

/** The values to which every header of one pack is bound. */
export interface PackFrame {
  readonly pack: number
  readonly salt: Uint8Array
}

export interface RecordPosition {
  readonly offset: number
  /** Counts the flushes of a pack, starting with 1: a record proves that all batches before its own were flushed. */
  readonly batch: number
  /** The offset at which the batch starts: everything before it was flushed. */
  readonly batchOffset: number
}

export interface PackRecord extends RecordPosition {
  readonly name: BlobName
  readonly content: BlobContent
}

/** Header, blob and padding. */
export function recordBytes(size: number): number {
  return Math.ceil((HEADER_BYTES + size) / SECTOR_BYTES) * SECTOR_BYTES
}

export function encodePackHead({ pack, salt }: PackFrame): Buffer {
  const head = Buffer.alloc(SECTOR_BYTES)
  PACK_MAGIC.copy(head, 0)
  head.writeUInt32LE(VERSION, 8)
  head.writeUInt32LE(pack, 12)
  head.set(salt, 16)
  head.writeUInt32LE(crc32(head.subarray(0, HEAD_CRC_AT)), HEAD_CRC_AT)
  return Buffer.concat([head, head])
}

/** Null when neither of the two heads is a valid head of this pack. */
export function decodePackHead(pack: number, bytes: Buffer): PackFrame | null {
  for (const at of [0, SECTOR_BYTES]) {
    const head = bytes.subarray(at, at + SECTOR_BYTES)
    if (head.length < SECTOR_BYTES || !head.subarray(0, 8).equals(PACK_MAGIC)) continue
    if (crc32(head.subarray(0, HEAD_CRC_AT)) !== head.readUInt32LE(HEAD_CRC_AT)) continue
    if (head.readUInt32LE(8) !== VERSION || head.readUInt32LE(12) !== pack) continue
    return { pack, salt: Uint8Array.from(head.subarray(16, 16 + SALT_BYTES)) }
  }
  return null
}

export function encodeRecordHeader(frame: PackFrame, record: PackRecord): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  writeNamedContent(header, record.name, record.content)
  return sealed(header, frame, { ...record, kind: BLOB })
}

/** The end mark follows the last record of a finished pack: it proves that the last batch was flushed as well. */
export function encodeEnd(frame: PackFrame, { offset, batch }: Omit<RecordPosition, 'batchOffset'>): Buffer {
  const header = Buffer.alloc(SECTOR_BYTES)
  writeNamedContent(header, NO_NAME, NO_CONTENT)
  return sealed(header, frame, { offset, batch, batchOffset: offset, kind: END })
}

function sealed(
  header: Buffer,
  { pack, salt }: PackFrame,
  { offset, batch, batchOffset, kind }: RecordPosition & { readonly kind: number },
): Buffer {
  RECORD_MAGIC.copy(header, 0)
  header.writeUInt32LE(pack, 186)
  header.writeBigUInt64LE(BigInt(offset), 190)
  header.writeUInt32LE(batch, 198)
  header.writeUInt8(kind, 202)
  header.writeBigUInt64LE(BigInt(batchOffset), 203)
  header.writeUInt32LE(crc32(header.subarray(0, CRC_AT), crc32(salt)), CRC_AT)
  return header
}

export interface EndMark extends RecordPosition {
  readonly name: null
}

/** The record or the end mark that starts at `offset`; null when the bytes are not a valid header for this place. */
export function decodeRecordHeader(
  frame: PackFrame,
  offset: number,
  header: Buffer,
): PackRecord | EndMark | null {
  if (header.length < HEADER_BYTES || !header.subarray(0, 8).equals(RECORD_MAGIC)) return null
  if (crc32(header.subarray(0, CRC_AT), crc32(frame.salt)) !== header.readUInt32LE(CRC_AT)) return null
  if (header.readUInt32LE(186) !== frame.pack || header.readBigUInt64LE(190) !== BigInt(offset)) return null
  const { name, content, version } = readNamedContent(header)
  if (version !== VERSION) return null
  const batch = header.readUInt32LE(198)
  const batchOffset = Number(header.readBigUInt64LE(203))
  if (header.readUInt8(202) === END) return { offset, batch, batchOffset, name: null }
  const isName = parseFileName(`${name.id}.${name.birth}`) !== null
  return isName ? { offset, batch, batchOffset, name, content } : null
}
