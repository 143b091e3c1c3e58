/**
 * Rows in sequence, in the form in which nodes send and hash them. docs/formats/row.md
 *
 *   u32le key length, key, u32le value length, value; as stored; repeated
 *
 * Owns: that framing, both ways. Knows nothing of: what the rows are, who sends them.
 * Rule: a length is accepted only if it lies within the given bytes.
 */

const LENGTH_BYTES = 4

export interface StoredRow {
  readonly key: Buffer
  /** The stored bytes, checksum included. */
  readonly value: Buffer
}

/** A peer sent malformed data. The state of this node is unchanged. */
export class SnapshotDamagedError extends Error {
  override readonly name = 'SnapshotDamagedError'
}

export function frameRow(key: Uint8Array, value: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(framedBytes(key, value))
  frameInto(frame, key, value)
  return frame
}

/** At the beginning of `target`, which is large enough. Returns the bytes of the row. */
export function frameInto(target: Buffer, key: Uint8Array, value: Uint8Array): number {
  target.writeUInt32LE(key.length, 0)
  target.set(key, LENGTH_BYTES)
  target.writeUInt32LE(value.length, LENGTH_BYTES + key.length)
  target.set(value, 2 * LENGTH_BYTES + key.length)
  return framedBytes(key, value)
}

export function framedBytes(key: Uint8Array, value: Uint8Array): number {
  return 2 * LENGTH_BYTES + key.length + value.length
}

/** Views into `bytes`. Throws SnapshotDamagedError. */
export function* rowsOf(bytes: Uint8Array): Generator<StoredRow> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let offset = 0
  const part = (): Buffer => {
    const start = offset + LENGTH_BYTES
    const end = start <= buffer.length ? start + buffer.readUInt32LE(offset) : Infinity
    if (end > buffer.length) throw new SnapshotDamagedError('Cannot read a block of rows: a row is cut short')
    offset = end
    return buffer.subarray(start, end)
  }
  while (offset < buffer.length) yield { key: part(), value: part() }
}
