/**
 * The frames between two nodes: their bytes, their limits, and how a stream of bytes is cut into them.
 *
 * Owns: the layout of a frame (docs/formats/peer-frames.md). Pure. Knows nothing of: sockets, what a payload means.
 * Rule: a claimed length is checked before anything is allocated for it. The bytes of a body are passed on as they arrive, in any
 * pieces; every other frame is passed on whole.
 */
import { FRAME_BYTES_MAX, HEADER_BYTES_MAX } from './frame.ts'
import { MalformedFrameError } from './msgpack-guard.ts'

/** What a client offers and a server chooses in the handshake of TLS. */
export const FRAMES_PROTOCOL = 'holdfast-frames/1'

/** The first bytes of a client. No request of HTTP begins with a zero. */
export const PREFACE: Uint8Array = Buffer.from('\0HFFR/1\n', 'latin1')

/** `[u32 length of the payload][u8 type][u32 stream]`, big-endian. */
export const FRAME_HEAD_BYTES = 9

/** Added to the type of the frame that ends a body. */
const LAST = 0x80

export const FRAME = {
  hello: 1,
  welcome: 2,
  refused: 3,
  status: 4,
  raft: 5,
  ack: 6,
  request: 7,
  answer: 8,
  data: 9,
  credit: 10,
  reset: 11,
  ping: 12,
  pong: 13,
  leave: 14,
} as const

export type FrameType = (typeof FRAME)[keyof typeof FRAME]

/** The most bytes of a body that a request or an answer carries itself. */
export const INLINE_BYTES_MAX = 64 * 1024
/** The largest piece of a body that is sent as one frame. Bytes. */
export const PIECE_BYTES_MAX = 256 * 1024
/** How many bytes of a body may be sent before its receiver has said anything. */
export const FIRST_CREDIT = 128 * 1024
/** `[u8 length][method]` and `[u32 length]` before a header. Bytes. */
const REQUEST_HEAD_MAX = 1 + 64 + 4

/** The limit of the payload, by type. Bytes. */
const PAYLOAD_MAX: Readonly<Record<FrameType, number>> = {
  [FRAME.hello]: 16 * 1024,
  [FRAME.welcome]: 1024,
  [FRAME.refused]: HEADER_BYTES_MAX,
  [FRAME.status]: 256,
  [FRAME.raft]: FRAME_BYTES_MAX,
  [FRAME.ack]: 4,
  [FRAME.request]: REQUEST_HEAD_MAX + HEADER_BYTES_MAX + INLINE_BYTES_MAX,
  [FRAME.answer]: REQUEST_HEAD_MAX + HEADER_BYTES_MAX + INLINE_BYTES_MAX,
  [FRAME.data]: PIECE_BYTES_MAX,
  [FRAME.credit]: 4,
  [FRAME.reset]: 0,
  [FRAME.ping]: 0,
  [FRAME.pong]: 0,
  [FRAME.leave]: 0,
}

const isFrameType = (type: number): type is FrameType => type in PAYLOAD_MAX

export interface Frame {
  readonly type: FrameType
  readonly stream: number
  /** Nothing of the body follows. */
  readonly isLast: boolean
  readonly payload: Buffer
}

/** Payloads up to this size are copied behind their head. Bytes. */
const JOINED_BYTES_MAX = 16 * 1024

export interface FrameParts {
  readonly type: FrameType
  readonly stream?: number
  readonly isLast?: boolean
  readonly payload?: readonly Uint8Array[]
}

/** The frame in one piece, or its head and its payload without a copy of it. */
export function encodeFrame({ type, stream = 0, isLast = false, payload = [] }: FrameParts): Buffer[] {
  let length = 0
  for (const part of payload) length += part.length
  if (length > PAYLOAD_MAX[type])
    throw new RangeError(`A frame of type ${type} holds ${PAYLOAD_MAX[type]} bytes, not ${length}`)
  const isJoined = length <= JOINED_BYTES_MAX
  const head = Buffer.allocUnsafe(FRAME_HEAD_BYTES + (isJoined ? length : 0))
  head.writeUInt32BE(length, 0)
  head[4] = type + (isLast ? LAST : 0)
  head.writeUInt32BE(stream, 5)
  if (!isJoined) return [head, ...payload.map(asBuffer)]
  let at = FRAME_HEAD_BYTES
  for (const part of payload) {
    head.set(part, at)
    at += part.length
  }
  return [head]
}

export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

export interface FrameSink {
  /** Throws MalformedFrameError for a type that does not fit here, before anything is kept of the frame. */
  onHead(type: FrameType): void
  onFrame(frame: Frame): void
}

/** Cuts what arrives into frames. Throws MalformedFrameError; nothing can be read after that. */
export class FrameReader {
  readonly #sink: FrameSink
  readonly #head = Buffer.alloc(FRAME_HEAD_BYTES)
  #headBytes = 0
  #type: FrameType = FRAME.ping
  #isLast = false
  #stream = 0
  /** Bytes of the present payload that have not arrived. */
  #missing = 0
  /** What has arrived of a payload that is passed on whole. */
  #whole: Buffer | null = null
  #filled = 0

  constructor(sink: FrameSink) {
    this.#sink = sink
  }

  push(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length) {
      if (this.#headBytes < FRAME_HEAD_BYTES) {
        at = this.#readHead(chunk, at)
        if (this.#headBytes < FRAME_HEAD_BYTES) return
        if (this.#missing === 0) this.#deliver(chunk.subarray(at, at))
        continue
      }
      const end = Math.min(chunk.length, at + this.#missing)
      this.#take(chunk.subarray(at, end))
      at = end
    }
  }

  #readHead(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + FRAME_HEAD_BYTES - this.#headBytes)
    chunk.copy(this.#head, this.#headBytes, at, end)
    this.#headBytes += end - at
    if (this.#headBytes < FRAME_HEAD_BYTES) return end
    const length = this.#head.readUInt32BE(0)
    const code = this.#head.readUInt8(4)
    const type = code & ~LAST
    if (!isFrameType(type)) throw new MalformedFrameError(`Frames of type ${type} are unknown`)
    if (length > PAYLOAD_MAX[type])
      throw new MalformedFrameError(
        `A frame of type ${type} claims ${length} bytes, ${PAYLOAD_MAX[type]} are allowed`,
      )
    this.#sink.onHead(type)
    this.#type = type
    this.#isLast = code >= LAST
    this.#stream = this.#head.readUInt32BE(5)
    this.#missing = length
    return end
  }

  #take(bytes: Buffer): void {
    this.#missing -= bytes.length
    if (this.#type === FRAME.data) {
      if (this.#missing === 0) return this.#deliver(bytes)
      return this.#sink.onFrame({ type: this.#type, stream: this.#stream, isLast: false, payload: bytes })
    }
    if (this.#whole === null && this.#missing === 0) return this.#deliver(bytes)
    this.#whole ??= Buffer.allocUnsafe(bytes.length + this.#missing)
    this.#filled += bytes.copy(this.#whole, this.#filled)
    if (this.#missing === 0) this.#deliver(this.#whole)
  }

  #deliver(payload: Buffer): void {
    this.#headBytes = 0
    this.#whole = null
    this.#filled = 0
    this.#sink.onFrame({ type: this.#type, stream: this.#stream, isLast: this.#isLast, payload })
  }
}
