/**
 * The bytes of a batch of Raft messages, and of the header at the start of a call and of its answer.
 *
 * Owns: MessagePack, the version of the frame and every size limit on it (docs/formats/peer-protocol.md).
 * Knows nothing of: HTTP. Rule: received bytes are checked in full before any caller sees them; a frame that does not fit throws
 * MalformedFrameError and has no other effect.
 */
import { Packr } from 'msgpackr'
import type { Message } from '../raft/types.ts'
import { messageFromTuple, messageToTuple, type Route } from './message-codec.ts'
import { assertPlainMsgpack, MalformedFrameError } from './msgpack-guard.ts'
import { TupleReader } from './tuple-reader.ts'

export { MalformedFrameError }
export type { Route }

const FRAME_VERSION = 1
/** The limit of one batch: larger than the largest single message of the core. Bytes. */
export const FRAME_BYTES_MAX = 16 * 1024 * 1024
/** The most messages of one batch. */
export const FRAME_MESSAGES_MAX = 1024
/** The limit of one packed call header. Bytes. */
export const HEADER_BYTES_MAX = 64 * 1024
/** The size of the big-endian length before a packed header. Bytes. */
export const HEADER_LENGTH_BYTES = 4

// Records are stateful: a new decoder cannot read them. Maps are self-describing.
const packr = new Packr({ useRecords: false, variableMapSize: true })

export function encodeBatch(messages: readonly Message[], route: Route): Uint8Array {
  const misrouted = messages.find((message) => message.from !== route.from || message.to !== route.to)
  if (misrouted !== undefined) {
    throw new RangeError(
      `A ${misrouted.type} from ${misrouted.from} to ${misrouted.to} does not belong to the route from ${route.from} to ${route.to}`,
    )
  }
  const bytes = packr.pack([FRAME_VERSION, messages.map(messageToTuple)])
  if (bytes.length > FRAME_BYTES_MAX)
    throw new RangeError(`A batch of ${bytes.length} bytes exceeds ${FRAME_BYTES_MAX}`)
  return bytes
}

/** Entry data are views of `bytes`: pass a buffer that is not used again. */
export function decodeBatch(bytes: Uint8Array, route: Route): Message[] {
  if (bytes.length > FRAME_BYTES_MAX)
    throw new MalformedFrameError(`The frame has ${bytes.length} bytes, ${FRAME_BYTES_MAX} are allowed`)
  const reader = new TupleReader(unpack(bytes), 'frame')
  const version = reader.integer('version')
  if (version !== FRAME_VERSION) throw new MalformedFrameError(`Frame version ${version} is unknown`)
  const messages = reader.array('messages', FRAME_MESSAGES_MAX).map((tuple) => messageFromTuple(tuple, route))
  reader.end()
  return messages
}

/** An upper estimate of the bytes that a message adds to a batch; cheap enough for every send. */
export function messageBytesEstimate(message: Message): number {
  if (message.type !== 'AppendEntries') return 256
  return message.entries.reduce((sum, entry) => sum + entry.data.length + 32, 256)
}

/** `[u32 length][MessagePack]`. Throws RangeError for a header that is too large, TypeError for one that is not plain data. */
export function encodeHeader(header: unknown): Uint8Array {
  const packed = packr.pack(header ?? null)
  if (packed.length > HEADER_BYTES_MAX)
    throw new RangeError(`A call header of ${packed.length} bytes exceeds ${HEADER_BYTES_MAX}`)
  try {
    assertPlainMsgpack(packed)
  } catch (cause) {
    throw new TypeError('A call header must be plain data', { cause })
  }
  const framed = Buffer.allocUnsafe(HEADER_LENGTH_BYTES + packed.length)
  framed.writeUInt32BE(packed.length, 0)
  framed.set(packed, HEADER_LENGTH_BYTES)
  return framed
}

/** The inverse of encodeHeader, for bytes without the length. */
export function decodeHeader(packed: Uint8Array): unknown {
  return unpack(packed)
}

function unpack(bytes: Uint8Array): unknown {
  assertPlainMsgpack(bytes)
  try {
    return packr.unpack(bytes)
  } catch (cause) {
    throw new MalformedFrameError('The frame is not MessagePack', { cause })
  }
}
