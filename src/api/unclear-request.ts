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
  let hosts = 0
  let authorizations = 0
  const codings: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (isNamed(name, 'host')) hosts += 1
    else if (isNamed(name, 'authorization')) authorizations += 1
    else if (isNamed(name, 'transfer-encoding')) codings.push(rawHeaders[at + 1] ?? '')
  }
  // What stands before this node may have gone by the other host; Node takes the first and says nothing. [RFC 9112 3.2]
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1'))
    return new Refusal('invalid_request', 'A request names its host, once')
  // The same of callers: a proxy may have let the other one pass. [RFC 9110 11.6.2]
  if (authorizations > 1)
    return new Refusal('invalid_request', 'A request has one Authorization header: send one')
  return codingFault(codings, httpVersion)
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

/** `name`: as the client wrote it. */
function isNamed(name: string, wanted: string): boolean {
  return name.length === wanted.length && name.toLowerCase() === wanted
}
