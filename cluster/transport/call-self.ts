/**
 * A call of a node to itself: the handler runs without a socket.
 *
 * Owns: that such a call behaves like any other (headers by value, the same refusals, time limit and abort).
 * Rule: nothing mutable is shared between caller and handler, neither headers nor bytes.
 */
import type { Clock } from '../base/clock.ts'
import { Deadline } from './deadline.ts'
import { decodeHeader, encodeHeader, HEADER_LENGTH_BYTES } from './frame.ts'
import { type HandlerContext, runHandler } from './run-handler.ts'
import {
  type ByteStream,
  type CallRequest,
  type CallResponse,
  PeerRefusedError,
  PeerUnreachableError,
} from './transport.ts'

export interface SelfCall {
  readonly request: CallRequest
  readonly clock: Clock
  readonly timeoutMs: number
}

export async function callSelf(
  context: HandlerContext,
  { request, clock, timeoutMs }: SelfCall,
): Promise<CallResponse> {
  const { self, method } = context
  const header = copyOfHeader(request.header)
  const deadline = new Deadline({ clock, timeoutMs, signal: request.signal })
  try {
    deadline.signal.throwIfAborted()
    const answer = await deadline.race(
      runHandler(context, { from: self, header, body: asStream(request.body) }),
    )
    return { header: copyOfHeader(answer.header), body: asStream(answer.body) }
  } catch (cause) {
    if (cause instanceof PeerRefusedError) throw cause
    throw new PeerUnreachableError(self, `Call ${method} to this node failed`, { cause })
  } finally {
    deadline.release()
  }
}

export function copyOfHeader(header: unknown): unknown {
  return decodeHeader(encodeHeader(header).subarray(HEADER_LENGTH_BYTES))
}

/** Any form of a body as a stream, in pieces that belong to the receiver. */
export function asStream(body: CallRequest['body']): ByteStream {
  if (body === undefined) return copiesOf([])
  if (body instanceof Uint8Array) return copiesOf([body])
  return Array.isArray(body) ? copiesOf(body as readonly Uint8Array[]) : (body as ByteStream)
}

async function* copiesOf(parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield new Uint8Array(part)
}
