/**
 * The frame around a blob in its file: a header of 256 bytes, then the blob. Integers are little-endian.
 *
 *    0   8  magic "HFBLOB\r\n"
 *    8   4  format version, 1
 *   12   4  header length, 256
 *   16   8  size of the blob
 *   24  32  SHA-256 of the blob
 *   56  65  id: one length byte, then ASCII, zero padded
 *  121  65  birth: the same
 *  186  66  zeros
 *  252   4  CRC-32 of bytes [0, 252)
 *
 * The records of packs contain the bytes from 8 to 186 as well (packs/pack-record.ts).
 * Rule: a header that does not carry the file's own name counts as damage, so a misdirected write or a swapped file is never
 * served as another blob.
 */
import { crc32 } from 'node:zlib'
import { BlobDamagedError, type BlobName } from '../../base/types.ts'
import type { BlobContent } from './blob-store.ts'

export const HEADER_BYTES = 256

const MAGIC = Buffer.from('HFBLOB\r\n', 'latin1')
const VERSION = 1
const CRC_AT = 252
const NAME_BYTES_MAX = 64

export function encodeHeader(name: BlobName, content: BlobContent): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  MAGIC.copy(header, 0)
  writeNamedContent(header, name, content)
  header.writeUInt32LE(crc32(header.subarray(0, CRC_AT)), CRC_AT)
  return header
}

/** Version, length, size, checksum and name. */
export function writeNamedContent(header: Buffer, name: BlobName, content: BlobContent): void {
  header.writeUInt32LE(VERSION, 8)
  header.writeUInt32LE(HEADER_BYTES, 12)
  header.writeBigUInt64LE(BigInt(content.size), 16)
  header.write(content.checksum, 24, 32, 'hex')
  writeText(header, 56, name.id)
  writeText(header, 121, name.birth)
}

/** The fields as stored, without checking their values; only for a header that passed its CRC. */
export function readNamedContent(header: Buffer): { name: BlobName; content: BlobContent; version: number } {
  return {
    name: { id: readText(header, 56), birth: readText(header, 121) },
    content: { size: Number(header.readBigUInt64LE(16)), checksum: header.toString('hex', 24, 56) },
    version: header.readUInt32LE(8),
  }
}

/** Throws BlobDamagedError, whose message says what is wrong. */
export function decodeHeader(name: BlobName, header: Buffer): BlobContent {
  const damaged = (what: string) =>
    new BlobDamagedError(`Blob "${name.id}.${name.birth}" is damaged: ${what}`)
  if (header.length < HEADER_BYTES) throw damaged('its header is cut off')
  if (!header.subarray(0, 8).equals(MAGIC)) throw damaged('its header is not a blob header')
  if (crc32(header.subarray(0, CRC_AT)) !== header.readUInt32LE(CRC_AT)) {
    throw damaged('its header fails its own checksum')
  }
  const found = readNamedContent(header)
  if (found.version !== VERSION) throw damaged(`its format version is ${found.version}`)
  if (found.name.id !== name.id || found.name.birth !== name.birth) {
    throw damaged('its header carries another name')
  }
  return found.content
}

/** One length byte, then up to 64 bytes of ASCII. */
function writeText(header: Buffer, at: number, text: string): void {
  if (text.length > NAME_BYTES_MAX) throw new RangeError(`Cannot encode a blob header: "${text}" is too long`)
  header.writeUInt8(text.length, at)
  header.write(text, at + 1, 'latin1')
}

function readText(header: Buffer, at: number): string {
  return header.toString('latin1', at + 1, at + 1 + header.readUInt8(at))
}
