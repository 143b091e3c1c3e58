/**
 * Sends what begins a request or an answer, with its body behind it.
 *
 * Owns: whether a body goes into the first frame. Knows nothing of: what the frame means, credit.
 */
import type { Clock } from '../base/clock.ts'
import { FrameBodySender } from './frame-body.ts'
import type { FrameSocket } from './frame-socket.ts'
import type { ByteStream, CallRequest } from './transport.ts'
import { FIRST_CREDIT, FRAME, type FrameType, INLINE_BYTES_MAX } from './wire-frame.ts'

export interface FrameMessage {
  readonly type: FrameType
  readonly stream: number
  /** Everything before the body. */
  readonly head: readonly Uint8Array[]
  readonly body: CallRequest['body']
  readonly clock: Clock
  /** How long the receiver may take nothing of the body. ms */
  readonly stallMs: number
  /** With the bytes of the body in each frame. */
  readonly onSent: (bytes: number) => void
}

/** A small body goes with the head. Returns what sends another one, piece by piece, once it runs; null: everything was sent. */
export function sendWithBody(frames: FrameSocket, message: FrameMessage): FrameBodySender | null {
  const { type, stream, head, body, clock, stallMs, onSent } = message
  const parts = partsOf(body)
  const length = parts?.reduce((sum, part) => sum + part.length, 0) ?? Infinity
  if (parts !== null && length <= INLINE_BYTES_MAX) {
    onSent(length)
    frames.send({ type, stream, isLast: true, payload: [...head, ...parts] })
    return null
  }
  frames.send({ type, stream, payload: head })
  return new FrameBodySender(parts ?? (body as ByteStream), {
    clock,
    stallMs,
    credit: FIRST_CREDIT,
    send: (piece, isLast) => {
      onSent(piece.length)
      frames.send({ type: FRAME.data, stream, isLast, payload: [piece] })
    },
    isCongested: () => frames.isCongested,
    whenRoom: (callback) => frames.whenRoom(callback),
  })
}

/** The pieces of a body whose length is known; null: a stream. */
function partsOf(body: CallRequest['body']): readonly Uint8Array[] | null {
  if (body === undefined) return []
  if (body instanceof Uint8Array) return [body]
  return Array.isArray(body) ? (body as readonly Uint8Array[]) : null
}
