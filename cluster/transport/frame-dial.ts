/**
 * Opens a socket to a peer for frames.
 *
 * Owns: the options of both kinds of sockets, the time limit until one is open, the advice about a failed handshake.
 * Knows nothing of: frames. Rule: no session is resumed, so each connection proves the identity of the peer again.
 */
import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import type { Clock } from '../base/clock.ts'
import type { PeerAddress } from '../base/types.ts'
import type { NodeId } from '../raft/types.ts'
import type { AddressMemory } from './address-memory.ts'
import { handshakeAdvice } from './handshake-advice.ts'
import { codeOf } from './handshake-refusals.ts'
import { parsePeerAddress } from './peer-address.ts'
import type { PeerTls } from './peer-tls.ts'
import { FRAMES_PROTOCOL } from './wire-frame.ts'

/** The peer is of a version that does not know frames. Nothing was asked of it. */
export class SpeaksHttpError extends Error {
  override readonly name = 'SpeaksHttpError'
}

export interface DialOptions {
  readonly peer: NodeId
  readonly address: PeerAddress
  readonly tls: PeerTls | null
  readonly names: AddressMemory
  readonly clock: Clock
  /** Until the host has accepted the connection. */
  readonly timeoutMs: number
  /** From then on until TLS is established. A busy node needs longer than its host. */
  readonly handshakeMs: number
}

/** Rejects with SpeaksHttpError, or with the error of the socket. */
export async function dial(options: DialOptions): Promise<Socket> {
  const { tls, clock, timeoutMs, handshakeMs, peer } = options
  const socket = tls === null ? plainSocket(options) : tlsSocket(options, tls)
  await new Promise<void>((resolve, reject) => {
    const fail = (error: Error): void => {
      timer.cancel()
      socket.destroy()
      reject(advised(error))
    }
    let timer = clock.after(timeoutMs, () => fail(new Error(`No connection within ${timeoutMs} ms`)))
    socket.once('error', fail)
    socket.once('connect', () => {
      timer.cancel()
      timer = clock.after(handshakeMs, () => fail(new Error(`No handshake within ${handshakeMs} ms`)))
    })
    socket.once(tls === null ? 'connect' : 'secureConnect', () => {
      timer.cancel()
      socket.off('error', fail)
      resolve()
    })
  })
  if (tls === null || (socket as TLSSocket).alpnProtocol === FRAMES_PROTOCOL) return socket
  socket.on('error', () => {}).destroy()
  throw new SpeaksHttpError(`Node ${peer} does not know frames`)
}

function plainSocket({ address, names }: DialOptions): Socket {
  return connect({ ...parsePeerAddress(address), lookup: names.lookup })
}

function tlsSocket({ address, names, peer }: DialOptions, tls: PeerTls): Socket {
  const { host, port } = parsePeerAddress(address)
  return connectTls({
    host,
    port,
    lookup: names.lookup,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ALPNProtocols: [FRAMES_PROTOCOL, 'http/1.1'],
    ...tls.client(peer),
  })
}

export function advised(error: Error): Error {
  const advice = handshakeAdvice(codeOf(error))
  return advice === null ? error : new Error(`${error.message}. ${advice.hint}`, { cause: error })
}
