/**
 * Connections of trusted proxies, each with a header of the PROXY protocol before its first byte, the TLS handshake included.
 *
 * Owns: reading that header before the server sees the connection. Knows nothing of: HTTP, TLS.
 * Rules: a trusted proxy must send it, and soon; a connection from any other address is handed on unread, where such a header is no
 * request and is refused.
 */
import type { Server, Socket } from 'node:net'
import type { Logger } from '../../../cluster/index.ts'
import { bareAddress } from './forwarded-for.ts'
import type { ClientAddresses } from './client-address.ts'
import { PROXY_HEADER_BYTES_MIN, readProxyHeader } from './proxy-header.ts'

/** From the connection to the last byte of the header. */
const HEADER_MS_MAX = 10_000
/** Proxies without a header are logged once in so long. */
const REPORTED_EVERY_MS = 60_000

interface Parts {
  readonly addresses: ClientAddresses
  readonly logger: Logger
  /** Monotonic milliseconds. */
  readonly now: () => number
}

/** Puts itself before what the server does with a new connection. Call it before others listen for connections. */
export function readProxyHeaders(server: Server, parts: Parts): void {
  const serve = server.listeners('connection') as ((socket: Socket) => void)[]
  server.removeAllListeners('connection')
  const report = reporter(parts)
  server.on('connection', (socket: Socket) => {
    const pass = (): void => {
      for (const one of serve) one.call(server, socket)
    }
    if (parts.addresses.isTrustedPeer(socket)) awaitHeader(socket, parts.addresses, { pass, report })
    else pass()
  })
}

interface Outcome {
  readonly pass: () => void
  readonly report: (proxy: string, why: string) => void
}

function awaitHeader(socket: Socket, addresses: ClientAddresses, { pass, report }: Outcome): void {
  let known = Buffer.alloc(0)
  let wanted = PROXY_HEADER_BYTES_MIN
  const settle = (): void => {
    clearTimeout(timer)
    socket.off('readable', read).off('end', left).off('error', left).off('close', settle)
  }
  const refuse = (why: string): void => {
    settle()
    socket.destroy()
    report(addresses.ofConnection(socket), why)
  }
  const left = (): void => {
    settle()
    socket.destroy()
  }
  const read = (): void => {
    for (;;) {
      // Not a byte more: what follows belongs to the server.
      const piece: unknown = socket.read(Math.min(wanted - known.length, socket.readableLength))
      if (!Buffer.isBuffer(piece)) return
      known = Buffer.concat([known, piece])
      const header = readProxyHeader(known)
      if (header.kind === 'broken') return refuse(header.why)
      if (header.kind === 'short') {
        wanted = header.bytesMin
        continue
      }
      const address = header.address === null ? null : bareAddress(header.address)
      if (address !== null) addresses.connectedFrom(socket, address)
      settle()
      // The stream notices one turn later that its reader has gone; only then may the next one start.
      setImmediate(() => (socket.destroyed ? undefined : pass()))
      return
    }
  }
  const timer = setTimeout(refuse, HEADER_MS_MAX, `it did not come within ${HEADER_MS_MAX / 1000} s`)
  socket.on('readable', read).on('end', left).on('error', left).on('close', settle)
}

function reporter({ logger, now }: Parts): Outcome['report'] {
  let reportedAt = -Infinity
  return (proxy, why) => {
    if (now() - reportedAt < REPORTED_EVERY_MS) return
    reportedAt = now()
    logger.warn({ proxy, why }, 'connection of a trusted proxy without a header of the PROXY protocol closed')
  }
}
