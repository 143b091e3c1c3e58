/**
 * Requests that the server and a node before it could read in two ways, as far as Node lets them pass.
 *
 * Owns: repeated `Host` and `Authorization`, transfer codings. Knows nothing of: routes, callers. Rule: nothing that follows on the
 * connection is believed either: it may have been read already.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../base/refusal.ts'

const QUARANTINED = new WeakSet<object>()

/** Throws Refusal invalid_request, not_implemented; the connection is then closed. */
export function refuseUnclearRequest({ raw }: FastifyRequest, reply: FastifyReply): void {
  const fault = faultOf(raw.rawHeaders, raw.httpVersion)
  if (fault !== null) QUARANTINED.add(raw.socket)
  if (!QUARANTINED.has(raw.socket)) return
  reply.raw.shouldKeepAlive = false
  throw (
    fault ??
    new Refusal('invalid_request', 'What came before on this connection was refused: open another one')
  )
}

function faultOf(rawHeaders: readonly string[], httpVersion: string): Refusal | null {
  const hosts = valuesOf(rawHeaders, 'host')
  // What stands before this node may have gone by the other host; Node takes the first and says nothing. [RFC 9112 3.2]
  if (hosts.length > 1 || (hosts.length === 0 && httpVersion === '1.1'))
    return new Refusal('invalid_request', 'A request names its host, once')
  // The same of callers: a proxy may have let the other one pass. [RFC 9110 11.6.2]
  if (valuesOf(rawHeaders, 'authorization').length > 1)
    return new Refusal('invalid_request', 'A request has one Authorization header: send one')
  return codingFault(valuesOf(rawHeaders, 'transfer-encoding'), httpVersion)
}

/** Node undoes `chunked` alone, and would hand out what another coding has left. [RFC 9112 6.1] */
function codingFault(codings: readonly string[], httpVersion: string): Refusal | null {
  if (codings.length === 0) return null
  if (httpVersion === '1.0')
    return new Refusal('invalid_request', 'HTTP/1.0 has no Transfer-Encoding: send Content-Length')
  if (codings.length === 1 && codings[0]?.trim().toLowerCase() === 'chunked') return null
  const given = codings.join(', ').slice(0, 80)
  return new Refusal(
    'not_implemented',
    `Transfer-Encoding is "${given}": chunked is the only transfer coding here, and it is given once`,
  )
}

function valuesOf(rawHeaders: readonly string[], name: string): readonly string[] {
  return rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name)
}
