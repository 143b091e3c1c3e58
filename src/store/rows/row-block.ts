/**
 * Rows one behind the other, as they travel between nodes and as they are hashed. docs/formats/row.md
 *
 *   u32le key length, key, u32le value length, value; as stored, again and again
 *
 * Owns: that framing, both ways. Knows nothing of: what the rows are, who sends them.
 * Rule: a length is believed only inside the bytes that are there.
 */

const LENGTH_BYTES = 4

export interface StoredRow {
  readonly key: Buffer
  /** As it lies on disk, checksum included. */
  readonly value: Buffer
}

/** What came from a peer is not what a peer may send. The state here stands as it was. */
export class SnapshotDamagedError extends Error {
  override readonly name = 'SnapshotDamagedError'
}

export function frameRow(key: Uint8Array, value: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(framedBytes(key, value))
  frame.writeUInt32LE(key.length, 0)
  frame.set(key, LENGTH_BYTES)
  frame.writeUInt32LE(value.length, LENGTH_BYTES + key.length)
  frame.set(value, 2 * LENGTH_BYTES + key.length)
  return frame
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
