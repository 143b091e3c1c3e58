/**
 * The address and port of the other side of a connection: the same for a socket and for the one that TLS puts around it.
 */
import type { RawSocket } from './raw-pair.ts'

export function placeOf({
  remoteAddress = '',
  remotePort = 0,
}: Pick<RawSocket, 'remoteAddress' | 'remotePort'>): string {
  return `${remoteAddress} ${remotePort}`
}
