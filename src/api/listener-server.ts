/**
 * The socket of one public listener, over TLS or without: what it allows before there is a request.
 *
 * Owns: every limit of node:http(s), on purpose and in one place. Knows nothing of: fastify, routes.
 * Rules: how many, how large and how slow is bounded; and no header is dropped in silence: Node would drop those above a
 * count, so that is switched off, and their bytes are the bound.
 */
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer, type ServerOptions } from 'node:https'
import type { Logger } from '../../cluster/index.ts'
import type { ClientAddresses } from './admission/client-address.ts'
import { readProxyHeaders } from './admission/proxied-connections.ts'

/** Where the certificate of a listener comes from. */
export interface CertificateSource {
  readonly options: ServerOptions
  /** Until the server closes, new connections see what the source holds. */
  follow(server: CertifiedServer, logger: Logger, clock?: TimeOfDay): void
}

/** Of a server what the source of its certificate needs. */
export interface CertifiedServer {
  setSecureContext(options: ServerOptions): unknown
  once(event: 'close', listener: () => void): unknown
}

export interface TimeOfDay {
  /** Milliseconds since 1970. */
  wallTime(): number
  after(ms: number, callback: () => void): { cancel(): void }
}

export interface ListenerOptions {
  readonly edge: {
    readonly tls: CertificateSource | null
    readonly now: () => number
    readonly clock?: TimeOfDay
  }
  readonly connectionsMax: number
  readonly addresses: ClientAddresses
  /** Whether trusted proxies begin each connection with a header of the PROXY protocol. */
  readonly proxyProtocol: boolean
  readonly logger: Logger
  readonly onRequest: RequestListener
}

export const HEADER_BYTES_MAX = 16 * 1024
const HEADERS_MS_MAX = 20_000
/** A socket on which nothing moves for so long is given up, in the middle of a body too. */
const SILENCE_MS_MAX = 120_000
const KEEP_ALIVE_MS = 72_000
/** Clients that are turned away while all connections are taken are logged once in so long. */
const FULL_REPORTED_EVERY_MS = 60_000

export function listenerServer(options: ListenerOptions): Server {
  const { edge, connectionsMax, logger, onRequest } = options
  // Node would refuse a request without a host, and continue with the one behind it: see refuseUnclearRequest.
  const http = {
    maxHeaderSize: HEADER_BYTES_MAX,
    headersTimeout: HEADERS_MS_MAX,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // An upload takes as long as it takes; silence, drips (BodyPace) and slow headers are bounded.
    requestTimeout: 0,
    requireHostHeader: false,
  }
  const server =
    edge.tls === null ? createServer(http, onRequest) : overTls(http, edge, { logger, onRequest })
  if (options.proxyProtocol) readProxyHeaders(server, { addresses: options.addresses, logger, now: edge.now })
  server.setTimeout(SILENCE_MS_MAX)
  server.maxHeadersCount = 0
  server.maxConnections = connectionsMax
  tellWhenFull(server, { logger, connectionsMax, now: edge.now })
  return server
}

function overTls(
  http: object,
  { tls, clock }: ListenerOptions['edge'],
  { logger, onRequest }: Pick<ListenerOptions, 'logger' | 'onRequest'>,
): Server {
  const server = createTlsServer({ ...http, ...tls?.options }, onRequest)
  tls?.follow(server, logger, clock)
  return server
}

function tellWhenFull(
  server: Server,
  { logger, connectionsMax, now }: { logger: Logger; connectionsMax: number; now: () => number },
): void {
  let reportedAt = -Infinity
  server.on('drop', () => {
    if (now() - reportedAt < FULL_REPORTED_EVERY_MS) return
    reportedAt = now()
    logger.warn({ connectionsMax }, 'connection closed, limits.connections are open')
  })
}
