/**
 * The socket on which other nodes reach this one.
 *
 * Owns: node:http(s), its time limits, an orderly and bounded stop. Knows nothing of: identities, batches, calls.
 * Rule: every limit of the server is set here explicitly; the defaults of node:http are for browsers and would abort a long
 * transfer.
 */
import assert from 'node:assert/strict'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { Server as TlsServer, type TLSSocket } from 'node:tls'
import type { Clock } from '../base/clock.ts'
import { type Logger, type PeerAddress, StartError } from '../base/types.ts'
import type { FrameServer } from './frame-server.ts'
import { HandshakeRefusals } from './handshake-refusals.ts'
import { parsePeerAddress } from './peer-address.ts'
import type { PeerTls } from './peer-tls.ts'
import { FRAMES_PROTOCOL } from './wire-frame.ts'

export interface PeerListenerOptions {
  readonly listen: PeerAddress
  readonly tls: PeerTls | null
  readonly clock: Clock
  readonly logger: Logger
  readonly onRequest: RequestListener
  /** null: only HTTP is spoken here. */
  readonly frames: FrameServer | null
}

/** The time limit from the first byte of a request to the end of its headers. ms */
const HEADERS_TIMEOUT_MS = 10_000
/** The time limit without any traffic on a connection, also within a request. Longer than any client keeps an idle connection. ms */
const IDLE_TIMEOUT_MS = 120_000
/** Every peer holds a pool of connections and one connection for batches. Count. */
const CONNECTIONS_MAX = 1024
/** Running requests get this long at stop. ms */
const STOP_GRACE_MS = 1000

export class PeerListener {
  readonly #options: PeerListenerOptions
  readonly #server: Server
  /** All connections, also those in a TLS handshake, which node:http does not know. */
  readonly #sockets = new Set<Socket>()
  #running = 0
  #stopping = false
  #onIdle: () => void = () => {}

  constructor(options: PeerListenerOptions) {
    this.#options = options
    this.#server = this.#create()
    this.#server.timeout = IDLE_TIMEOUT_MS
    this.#server.keepAliveTimeout = IDLE_TIMEOUT_MS
    this.#server.maxConnections = CONNECTIONS_MAX
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
    this.#server.on('clientError', (err, socket) => {
      options.logger.debug({ err }, 'peer connection broke')
      socket.destroy()
    })
    if (options.frames !== null) this.#shareWith(options.frames)
    const refusals = new HandshakeRefusals(options)
    this.#server.on('tlsClientError', (err: Error, socket: Socket) => refusals.refused(err, socket))
  }

  /** Throws StartError. */
  async start(): Promise<void> {
    const { listen, logger } = this.#options
    const { host, port } = parsePeerAddress(listen)
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen({ host, port }, () => {
        this.#server.off('error', reject)
        resolve()
      })
    }).catch((cause: unknown) => {
      throw listenFailure(listen, cause)
    })
    this.#server.on('error', (err) => logger.error({ err }, 'peer listener failed'))
  }

  /** host:port as bound: the actual port when 0 was requested. */
  get address(): PeerAddress {
    const { address, port, family } = this.#server.address() as AddressInfo
    return family === 'IPv6' ? `[${address}]:${port}` : `${address}:${port}`
  }

  /** New connections use the present contents of the certificate files; open connections do not change. */
  renewCertificate(): void {
    const { tls } = this.#options
    if (tls !== null && this.#server instanceof TlsServer) this.#server.setSecureContext(tls.server)
    this.#options.frames?.leave()
  }

  get stopping(): boolean {
    return this.#stopping
  }

  /** Gives running requests a short time to finish, then ends every connection. */
  async stop(): Promise<void> {
    this.#stopping = true
    if (!this.#server.listening) return
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    this.#options.frames?.leave()
    await this.#idle()
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  /** Resolves when nothing runs, or after the grace. */
  async #idle(): Promise<void> {
    const { frames, clock } = this.#options
    const idle = Promise.all([
      frames?.idle(),
      this.#running === 0 ? null : new Promise<void>((resolve) => (this.#onIdle = resolve)),
    ])
    await new Promise<void>((resolve) => {
      const grace = clock.after(STOP_GRACE_MS, resolve)
      void idle.then(() => {
        grace.cancel()
        resolve()
      })
    })
  }

  /** TLS says which of both a client speaks; over plain TCP the first byte does. */
  #shareWith(frames: FrameServer): void {
    const event = this.#server instanceof TlsServer ? 'secureConnection' : 'connection'
    const [serveHttp] = this.#server.listeners(event) as ((socket: Socket) => void)[]
    assert(serveHttp !== undefined, 'a server of HTTP listens for its connections')
    this.#server.off(event, serveHttp)
    this.#server.on(event, (socket: Socket) => {
      if (event === 'connection') return whenItSpeaks(socket, frames, serveHttp.bind(this.#server))
      if ((socket as TLSSocket).alpnProtocol === FRAMES_PROTOCOL) frames.accept(socket)
      else serveHttp.call(this.#server, socket)
    })
  }

  #create(): Server {
    const { tls } = this.#options
    const settings = {
      // 0: a transfer may continue as long as bytes arrive; IDLE_TIMEOUT_MS ends the others.
      requestTimeout: 0,
      headersTimeout: HEADERS_TIMEOUT_MS,
      maxHeaderSize: 16 * 1024,
      noDelay: true,
      // A dead machine sends no reset; keep-alive probes detect that.
      keepAlive: true,
      keepAliveInitialDelay: 10_000,
    }
    if (tls === null) return createServer(settings, this.#onRequest)
    try {
      return createTlsServer(
        {
          ...settings,
          ...tls.server,
          handshakeTimeout: HEADERS_TIMEOUT_MS,
          ALPNProtocols: [...(this.#options.frames === null ? [] : [FRAMES_PROTOCOL]), 'http/1.1'],
        },
        this.#onRequest,
      )
    } catch (cause) {
      throw new StartError('peer_tls_invalid', 'Cannot use the certificate and key for TLS between nodes', {
        cause,
        hint: 'Check that key and certificate belong together and are PEM files.',
      })
    }
  }

  readonly #onRequest: RequestListener = (request, response) => {
    this.#running++
    response.once('close', () => {
      this.#running--
      if (this.#running === 0) this.#onIdle()
    })
    // The reader or writer of the stream receives both errors; without a listener they would end the process.
    request.on('error', (err) => this.#options.logger.debug({ err }, 'peer request broke off'))
    response.on('error', (err) => this.#options.logger.debug({ err }, 'peer answer broke off'))
    this.#options.onRequest(request, response)
  }
}

/** No request of HTTP begins with a zero, and every connection of frames does. */
function whenItSpeaks(socket: Socket, frames: FrameServer, serveHttp: (socket: Socket) => void): void {
  const giveUp = (): void => void socket.destroy()
  socket.setTimeout(HEADERS_TIMEOUT_MS, giveUp)
  socket.on('error', giveUp)
  socket.once('end', giveUp)
  socket.once('readable', () => {
    const first = socket.read() as Buffer | null
    if (first === null) return
    socket.off('timeout', giveUp).off('error', giveUp).off('end', giveUp)
    socket.setTimeout(0)
    socket.unshift(first)
    if (first[0] === 0) frames.accept(socket)
    else serveHttp(socket)
  })
}

function listenFailure(listen: PeerAddress, cause: unknown): StartError {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  if (code === 'EADDRINUSE') {
    return new StartError('address_in_use', `Cannot listen for peers on ${listen}: the address is in use`, {
      cause,
      hint: 'Stop the process that holds it, or give this node another peer address on every member.',
    })
  }
  const why = cause instanceof Error ? cause.message : String(cause)
  return new StartError('peer_listen_failed', `Cannot listen for peers on ${listen}: ${why}`, {
    cause,
    hint: 'Choose an address that belongs to this machine and a port that its user may open.',
  })
}
