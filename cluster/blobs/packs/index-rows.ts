/**
 * The rows of the pack index: the port to their store, and their bytes.
 *
 *   n<id>.<birth>   4 pack, 8 offset, 8 size, 4 CRC-32 of key and the 20 bytes before
 *   p<pack, 8 hex>  8 end of the indexed part, 8 records, 8 bytes, 4 XOR of their CRCs, 4 flags (1: unread places), 4 CRC-32
 *   c               empty; present while the index is closed, after a clean stop
 *
 * Rule: no row is used unless its CRC matches, because LevelDB returns flipped bits as good data.
 */
import { crc32 } from 'node:zlib'

/** All keys are ASCII. */
export interface IndexRows {
  /** Opens the existing rows; a store that cannot be opened is replaced by an empty one. */
  open(): Promise<void>
  get(key: string): Promise<Uint8Array | undefined>
  /** In the order of the keys. */
  getMany(keys: readonly string[]): Promise<readonly (Uint8Array | undefined)[]>
  /** In the order of their keys, `after` excluded. */
  entries(range: IndexRange): AsyncIterable<readonly [string, Uint8Array]>
  /** Atomic, and durable when it resolves. Null removes the row. */
  write(changes: ReadonlyMap<string, Uint8Array | null>): Promise<void>
  clear(): Promise<void>
  close(): Promise<void>
}

export interface IndexRange {
  readonly after: string
  readonly before: string
  readonly limit?: number
}

export interface Place {
  readonly pack: number
  readonly offset: number
  /** Size of the blob. */
  readonly size: number
}

export interface PackTotals {
  /** Everything before this offset is in the index; a start reads the records after it. */
  readonly indexedTo: number
  /** The number of records to which rows lead. */
  readonly records: number
  /** The bytes of these records in the pack. */
  readonly bytes: number
  readonly xor: number
  /** Some flushed places could not be read: the pack is never deleted. */
  readonly isDamaged: boolean
}

export const NO_TOTALS: PackTotals = { indexedTo: 0, records: 0, bytes: 0, xor: 0, isDamaged: false }
export const NAME_ROWS = { after: 'n', before: 'o' } as const
export const PACK_ROWS = { after: 'p', before: 'q' } as const
export const CLEAN_KEY = 'c'

const PLACE_BYTES = 24
const TOTALS_BYTES = 36

export function nameKey(fileName: string): string {
  return `n${fileName}`
}

export function packKey(pack: number): string {
  return `p${pack.toString(16).padStart(8, '0')}`
}

export function packOfKey(key: string): number {
  return Number.parseInt(key.slice(1), 16)
}

export function encodePlace(key: string, { pack, offset, size }: Place): Buffer {
  const row = Buffer.alloc(PLACE_BYTES)
  row.writeUInt32LE(pack, 0)
  row.writeBigUInt64LE(BigInt(offset), 4)
  row.writeBigUInt64LE(BigInt(size), 12)
  return sealed(key, row)
}

/** Null: the row is not what was written under this key. */
export function decodePlace(key: string, bytes: Uint8Array): Place | null {
  const row = opened(key, bytes, PLACE_BYTES)
  return row === null
    ? null
    : {
        pack: row.readUInt32LE(0),
        offset: Number(row.readBigUInt64LE(4)),
        size: Number(row.readBigUInt64LE(12)),
      }
}

/** The checksum of a row that enters the XOR of its pack's totals. */
export function rowSum(key: string, place: Place): number {
  return sumOfRow(encodePlace(key, place))
}

/** The same, from the bytes of a row. */
export function sumOfRow(row: Uint8Array): number {
  return new DataView(row.buffer, row.byteOffset).getUint32(PLACE_BYTES - 4, true)
}

export function encodeTotals(key: string, totals: PackTotals): Buffer {
  const row = Buffer.alloc(TOTALS_BYTES)
  row.writeBigUInt64LE(BigInt(totals.indexedTo), 0)
  row.writeBigUInt64LE(BigInt(totals.records), 8)
  row.writeBigUInt64LE(BigInt(totals.bytes), 16)
  row.writeUInt32LE(totals.xor, 24)
  row.writeUInt32LE(totals.isDamaged ? 1 : 0, 28)
  return sealed(key, row)
}

export function decodeTotals(key: string, bytes: Uint8Array): PackTotals | null {
  const row = opened(key, bytes, TOTALS_BYTES)
  return row === null
    ? null
    : {
        indexedTo: Number(row.readBigUInt64LE(0)),
        records: Number(row.readBigUInt64LE(8)),
        bytes: Number(row.readBigUInt64LE(16)),
        xor: row.readUInt32LE(24),
        isDamaged: row.readUInt32LE(28) === 1,
      }
}

function sealed(key: string, row: Buffer): Buffer {
  row.writeUInt32LE(crc32(row.subarray(0, -4), crc32(key)), row.length - 4)
  return row
}

function opened(key: string, bytes: Uint8Array, length: number): Buffer | null {
  const row = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (row.length !== length) return null
  return crc32(row.subarray(0, -4), crc32(key)) === row.readUInt32LE(length - 4) ? row : null
}
