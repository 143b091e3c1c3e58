/**
 * The framing of a state snapshot on its way between nodes. docs/formats/row.md
 *
 *   frame     u32le payload length, u32le CRC-32 over kind and payload, u8 kind, payload
 *   header    kind 1: the magic bytes
 *   rows      kind 2: repeated u32le key length, key, u32le value length, value, as stored
 *   trailer   kind 3: u64le number of rows, SHA-256 over everything before the trailer
 *
 * Owns: bytes to frames and back. Knows nothing of: rows, LevelDB.
 * Rule: a length is believed only below FRAME_BYTES_MAX; nothing of a frame is handed on before its checksum agreed.
 */
import { crc32 } from 'node:zlib'

export const MAGIC: Buffer = Buffer.from('HFSTATE1', 'latin1')
export const FRAME_KIND = { header: 1, rows: 2, trailer: 3 } as const

/** More than any row can have: a frame carries at least one whole row. */
const FRAME_BYTES_MAX = 64 * 1024 * 1024
const HEAD_BYTES = 9
const KIND_OFFSET = 8

export interface Frame {
  readonly kind: number
  readonly payload: Buffer
  /** Head and payload, for the hash over the stream. */
  readonly bytes: Buffer
}

export class SnapshotDamagedError extends Error {
  override readonly name = 'SnapshotDamagedError'
}

export function encodeFrame(kind: number, payload: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(HEAD_BYTES + payload.length)
  frame.writeUInt32LE(payload.length, 0)
  frame[KIND_OFFSET] = kind
  frame.set(payload, HEAD_BYTES)
  frame.writeUInt32LE(crc32(frame.subarray(KIND_OFFSET)), 4)
  return frame
}

/** Cuts any slicing of the stream into verified frames. Throws SnapshotDamagedError. */
export async function* readFrames(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Frame> {
  const buffered = new ByteQueue()
  for await (const chunk of stream) {
    buffered.push(chunk)
    for (let frame = nextFrame(buffered); frame !== null; frame = nextFrame(buffered)) yield frame
  }
  if (buffered.length > 0) throw new SnapshotDamagedError('Cannot read snapshot: it ends inside a frame')
}

function nextFrame(buffered: ByteQueue): Frame | null {
  const head = buffered.peek(HEAD_BYTES)
  if (head === null) return null
  const length = head.readUInt32LE(0)
  if (length > FRAME_BYTES_MAX) {
    throw new SnapshotDamagedError(`Cannot read snapshot: a frame claims ${length} bytes`)
  }
  const bytes = buffered.peek(HEAD_BYTES + length)
  if (bytes === null) return null
  buffered.drop(bytes.length)
  if (crc32(bytes.subarray(KIND_OFFSET)) !== bytes.readUInt32LE(4)) {
    throw new SnapshotDamagedError('Cannot read snapshot: the checksum of a frame does not agree')
  }
  return { kind: bytes[KIND_OFFSET] ?? 0, payload: bytes.subarray(HEAD_BYTES), bytes }
}

/** Bytes that arrived and do not yet make a frame. Joined only when a whole frame is there. */
class ByteQueue {
  #chunks: Buffer[] = []
  length = 0

  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return
    this.#chunks.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))
    this.length += chunk.length
  }

  /** The first `count` bytes, or null while they are not all there. */
  peek(count: number): Buffer | null {
    if (this.length < count) return null
    const [first] = this.#chunks
    if (first !== undefined && first.length >= count) return first.subarray(0, count)
    const joined = Buffer.concat(this.#chunks)
    this.#chunks = [joined]
    return joined.subarray(0, count)
  }

  drop(count: number): void {
    this.length -= count
    const [first] = this.#chunks
    if (first === undefined || first.length === count) this.#chunks.shift()
    else this.#chunks[0] = first.subarray(count)
  }
}
