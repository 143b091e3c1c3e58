/** The body of a call as it crosses between threads. Rule: bytes that are there go with the message, everything else as a stream. */
import { asStream } from '../transport/call-self.ts'
import type { ByteStream, CallRequest } from '../transport/transport.ts'
import type { CallsOf, Link } from './link.ts'
import type { LinkBody } from './raft-calls.ts'

export function sentBody<C extends CallsOf<C>>(link: Link<C>, body: CallRequest['body']): LinkBody {
  if (body === undefined) return null
  if (body instanceof Uint8Array || Array.isArray(body)) return body as Uint8Array | readonly Uint8Array[]
  return link.sendStream(asStream(body))
}

export function receivedBody<C extends CallsOf<C>>(
  link: Link<C>,
  body: LinkBody,
): Uint8Array | readonly Uint8Array[] | ByteStream | undefined {
  if (body === null) return undefined
  return typeof body === 'number' ? link.receiveStream(body) : body
}
