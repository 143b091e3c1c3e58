/**
 * The stored form of a row in LevelDB: a checksum bound to its key, then MessagePack. docs/formats/row.md
 *
 *   byte 0      format version, ROW_VERSION; POINTER_VERSION in a pointer (row-pointer.ts)
 *   bytes 1-4   CRC-32, little endian, over key, version and payload
 *   bytes 5-    payload
 *
 * Owns: sealing and opening of single rows. Knows nothing of: where rows are kept.
 * Rule: the engine hands out flipped bits and misplaced blocks as good data, so nothing is decoded before its checksum agrees.
 */
import { crc32 } from 'node:zlib'
import { Packr, RESERVE_START_SPACE } from 'msgpackr'
import type { Row } from '../../state-machine/base/view.ts'
import { kindOf, type RowKey } from '../../state-machine/base/row-key.ts'
import { StateDamagedError } from '../../../cluster/index.ts'
import { byteSum, textSum } from './text-sum.ts'

const ROW_VERSION = 1
/** Of a pointer to a row that lies elsewhere (row-pointer.ts). */
export const POINTER_VERSION = 2
type Version = typeof ROW_VERSION | typeof POINTER_VERSION
const CHECKSUM_OFFSET = 1
const PAYLOAD_OFFSET = 5

const packr = new Packr({ useRecords: false, variableMapSize: true })

/** The stored bytes are not those that were written under this key. The message shows neither the data nor the names in the key. */
export class RowDamagedError extends StateDamagedError {
  override readonly name = 'RowDamagedError'
  readonly kind: string
  constructor(kind: string, what: string, options?: ErrorOptions) {
    super(`Cannot read a row of kind "${kind}": ${what}; this node's state is damaged`, options)
    this.kind = kind
  }
}

/** The one way from a row key to bytes. LevelDB never gets strings: its own encoding cuts a key short when a character straddles its buffer. */
export function keyBytes(key: string): Buffer {
  return Buffer.from(key, 'utf8')
}

/** The row key whose bytes these are. */
export function keyText(key: Buffer): string {
  return key.toString('utf8')
}

/** A view into memory that other rows share: it is never written to again; a caller that keeps it for long copies it. */
export function encodeRow(key: Uint8Array, row: Row): Buffer {
  const value = packr.pack(row, RESERVE_START_SPACE + PAYLOAD_OFFSET)
  value[0] = ROW_VERSION
  value.writeUInt32LE(checksumOf(crc32(key), value.subarray(PAYLOAD_OFFSET), ROW_VERSION), CHECKSUM_OFFSET)
  return value
}

export function decodeRow<R extends object>(key: RowKey<R>, value: Uint8Array): R {
  return decodePayload(key, openNamed(key, textSum(key), value))
}

/** `payload`: of a row whose checksum agreed. Throws RowDamagedError. */
export function decodePayload<R extends object>(key: RowKey<R>, payload: Uint8Array): R {
  try {
    return packr.unpack(payload)
  } catch (cause) {
    throw new RowDamagedError(kindOf(key), 'its payload is no MessagePack', { cause })
  }
}

export function sealRow(key: Uint8Array, payload: Uint8Array, version: Version = ROW_VERSION): Buffer {
  const value = Buffer.allocUnsafe(PAYLOAD_OFFSET + payload.length)
  value[0] = version
  value.writeUInt32LE(checksumOf(crc32(key), payload, version), CHECKSUM_OFFSET)
  value.set(payload, PAYLOAD_OFFSET)
  return value
}

/** The payload, a view into `value`. Throws RowDamagedError. */
export function openRow<V extends Uint8Array>(key: Uint8Array, value: V, version: Version = ROW_VERSION): V {
  const payload = value.subarray(PAYLOAD_OFFSET) as V
  const fault = faultOf(crc32(key), value, version, payload)
  if (fault !== null) throw new RowDamagedError(kindOf(Buffer.from(key).toString('utf8')), fault)
  return payload
}

/** As `openRow`; `keySum`: the checksum of the bytes of `key`. */
export function openNamed<V extends Uint8Array>(key: string, keySum: number, value: V): V {
  const payload = value.subarray(PAYLOAD_OFFSET) as V
  const fault = faultOf(keySum, value, ROW_VERSION, payload)
  if (fault !== null) throw new RowDamagedError(kindOf(key), fault)
  return payload
}

function faultOf(keySum: number, value: Uint8Array, version: Version, payload: Uint8Array): string | null {
  if (value.length < PAYLOAD_OFFSET) return `it has ${value.length} bytes`
  if (value[0] !== version) return `its format version is ${value[0]}`
  const stored = uint32At(value, CHECKSUM_OFFSET)
  return stored === checksumOf(keySum, payload, version) ? null : 'its checksum does not agree'
}

function checksumOf(keySum: number, payload: Uint8Array, version: Version): number {
  return crc32(payload, byteSum(version, keySum))
}

/** Little endian. */
function uint32At(bytes: Uint8Array, at: number): number {
  const low = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8)
  return (low | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24)) >>> 0
}
