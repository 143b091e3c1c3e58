/**
 * What is in the payloads of frames: hello, requests, answers, refusals, counts.
 *
 * Owns: their bytes in both directions (docs/formats/peer-frames.md). Pure. Rule: what arrives is checked in full, and anything
 * else throws MalformedFrameError.
 */
import type { NodeId } from '../raft/types.ts'
import { decodeHeader, encodeHeader, HEADER_BYTES_MAX, HEADER_LENGTH_BYTES } from './frame.ts'
import { MalformedFrameError } from './msgpack-guard.ts'
import { identityHeaders, type PeerIdentity, type PeerStatus } from './peer-identity.ts'
import { PeerRefusedError } from './transport.ts'

type Claims = Readonly<Record<string, string>>

export interface RequestFrame {
  readonly method: string
  /** Packed. */
  readonly header: Buffer
  readonly body: Buffer
}

const METHOD = /^[a-z0-9._-]{1,64}$/

/** The same names and values as on a request over HTTP. */
export function encodeHello(self: PeerIdentity, status: PeerStatus, to: NodeId): Uint8Array {
  const { 'content-type': _, ...claims } = identityHeaders(self, status, to)
  return encodeHeader(claims).subarray(HEADER_LENGTH_BYTES)
}

export function decodeHello(payload: Buffer): Claims {
  const claims = decodeHeader(payload)
  if (typeof claims !== 'object' || claims === null || Array.isArray(claims))
    throw new MalformedFrameError('A hello is a map')
  for (const claim of Object.values(claims))
    if (typeof claim !== 'string') throw new MalformedFrameError('The claims of a hello are texts')
  return claims as Claims
}

/** By method. A node calls a few dozen. */
const heads = new Map<string, Buffer>()

export function methodHead(method: string): Buffer {
  let head = heads.get(method)
  if (head === undefined) {
    head = Buffer.from(`\0${method}`, 'latin1')
    head[0] = method.length
    heads.set(method, head)
  }
  return head
}

export function decodeRequest(payload: Buffer): RequestFrame {
  const length = payload[0] ?? 0
  const method = payload.toString('latin1', 1, 1 + length)
  if (!METHOD.test(method) || method.length !== length)
    throw new MalformedFrameError('A request names no method')
  return { method, ...splitHeader(payload.subarray(1 + length)) }
}

/** `[u32 length][header][body]` */
export function splitHeader(bytes: Buffer): Omit<RequestFrame, 'method'> {
  if (bytes.length < HEADER_LENGTH_BYTES) throw new MalformedFrameError('The frame ends within the header')
  const length = bytes.readUInt32BE(0)
  if (length > HEADER_BYTES_MAX)
    throw new MalformedFrameError(`The header claims ${length} bytes, ${HEADER_BYTES_MAX} are allowed`)
  const end = HEADER_LENGTH_BYTES + length
  if (bytes.length < end) throw new MalformedFrameError('The frame ends within the header')
  return { header: bytes.subarray(HEADER_LENGTH_BYTES, end), body: bytes.subarray(end) }
}

export function encodeRefused(code: string, message: string): Uint8Array {
  return encodeHeader({ code, message }).subarray(HEADER_LENGTH_BYTES)
}

export function decodeRefused(payload: Buffer): PeerRefusedError {
  const { code, message } = (decodeHeader(payload) ?? {}) as { code?: unknown; message?: unknown }
  if (typeof code !== 'string' || typeof message !== 'string')
    throw new MalformedFrameError('The refusal names no code')
  return new PeerRefusedError(code, message)
}

export function encodeCount(count: number): Buffer {
  const bytes = Buffer.allocUnsafe(4)
  bytes.writeUInt32BE(count)
  return bytes
}

export function decodeCount(payload: Buffer): number {
  if (payload.length !== 4) throw new MalformedFrameError(`A count has 4 bytes, not ${payload.length}`)
  return payload.readUInt32BE(0)
}
