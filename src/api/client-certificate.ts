/**
 * The certificate that a client proved to have when it connected.
 *
 * Owns: what of it counts. Knows nothing of: who may use it. Rules: a certificate counts only if its chain ends at an authority that
 * the listener trusts for clients, and until it expires, though the connection is older; otherwise the client has none.
 */
import { TLSSocket } from 'node:tls'
import type { FastifyRequest } from 'fastify'
import type { ClientCertificate } from '../access/base/principal.ts'

export interface ShownCertificate extends ClientCertificate {
  /** Milliseconds since 1970. */
  readonly endsAt: number
}

/** By connection: reading one takes longer than asking for it. */
const SHOWN = new WeakMap<object, ShownCertificate | null>()

/** Null: the client showed none, or none that counts. */
export function clientCertificate({
  raw: { socket },
}: Pick<FastifyRequest, 'raw'>): ClientCertificate | null {
  let shown = SHOWN.get(socket)
  if (shown === undefined) {
    shown = socket instanceof TLSSocket ? shownBy(socket) : null
    SHOWN.set(socket, shown)
  }
  return shown === null || Date.now() >= shown.endsAt ? null : shown
}

/** Of a connection whose TLS ends on another thread. */
export function rememberCertificate(socket: object, shown: ShownCertificate | null): void {
  SHOWN.set(socket, shown)
}

/** Whether it has expired is another question. Null as for `clientCertificate`. */
export function shownBy(socket: TLSSocket): ShownCertificate | null {
  if (!socket.authorized) return null
  const certificate = socket.getPeerX509Certificate()
  if (certificate === undefined) return null
  const { CN: name } = certificate.toLegacyObject().subject
  return {
    sha256: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
    commonName: typeof name === 'string' ? name : null,
    endsAt: certificate.validToDate.getTime(),
  }
}
