/**
 * What LevelDB holds in place of a row whose value is in a value file. docs/formats/value-file.md
 *
 *   byte 0      POINTER_VERSION, where a row has ROW_VERSION
 *   bytes 1-4   CRC-32 over key, version and payload, as in a row
 *   bytes 5-    u32le number of the file, u48le offset and u32le length of the value, u32le checksum of the row that lies there
 *
 * Owns: this form, both ways. Knows nothing of: files.
 * Rule: a pointer that is read as a row fails its check, so no reader takes it for one.
 */
import { StateDamagedError } from '../../../cluster/index.ts'
import type { ValuePlace } from '../values/value-readers.ts'
import { openRow, POINTER_VERSION, sealRow } from './row-codec.ts'

const OFFSET_BYTES = 6
const PAYLOAD_BYTES = 18
/** Of a row, where its checksum is. */
const CHECKSUM_OFFSET = 1

export interface RowPointer extends ValuePlace {
  readonly checksum: number
}

export function isPointer(stored: Uint8Array): boolean {
  return stored[0] === POINTER_VERSION
}

/** `row`: as it would lie in LevelDB. */
export function pointerTo(key: Uint8Array, row: Buffer, { file, offset, length }: ValuePlace): Buffer {
  const payload = Buffer.allocUnsafe(PAYLOAD_BYTES)
  payload.writeUInt32LE(file, 0)
  payload.writeUIntLE(offset, 4, OFFSET_BYTES)
  payload.writeUInt32LE(length, 4 + OFFSET_BYTES)
  payload.writeUInt32LE(row.readUInt32LE(CHECKSUM_OFFSET), 8 + OFFSET_BYTES)
  return sealRow(key, payload, POINTER_VERSION)
}

/** Throws RowDamagedError. */
export function openPointer(key: Uint8Array, stored: Uint8Array): RowPointer {
  const payload = Buffer.from(openRow(key, stored, POINTER_VERSION))
  if (payload.length !== PAYLOAD_BYTES)
    throw new StateDamagedError(`Cannot follow a pointer of the state: it has ${payload.length} bytes`)
  return {
    file: payload.readUInt32LE(0),
    offset: payload.readUIntLE(4, OFFSET_BYTES),
    length: payload.readUInt32LE(4 + OFFSET_BYTES),
    checksum: payload.readUInt32LE(8 + OFFSET_BYTES),
  }
}

/** Whether these are the bytes that a pointer was made for; a row under the same key could be an older one. */
export function isRowOf({ checksum, length }: RowPointer, row: Buffer): boolean {
  return (
    row.length === length && length > CHECKSUM_OFFSET + 4 && row.readUInt32LE(CHECKSUM_OFFSET) === checksum
  )
}
