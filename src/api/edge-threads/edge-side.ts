/**
 * The listener on an edge thread: connections, TLS, the parser, and requests as messages.
 *
 * Owns: the server of this thread, its connections and requests by number. Knows nothing of: routes, callers, limits of callers.
 * Rule: it decides about no request. What a listener bounds it bounds, by the same server as a listener on the thread of the state.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Server as HttpsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { Attached } from '../../base/attached.ts'
import { ClientAddresses } from '../admission/client-address.ts'
import { shownBy } from '../client-certificate.ts'
import { inTurns } from '../connection-turns.ts'
import { listenerServer } from '../listener-server.ts'
import { isWithoutAnswer, type ParserError } from '../raw/client-fault.ts'
import { takeOverContinue } from '../raw/late-continue.ts'
import { silentConnections } from '../raw/silent-connections.ts'
import { EdgeExchange } from './edge-exchange.ts'
import { LineLogger } from './line-logger.ts'
import type { Outbox } from './outbox.ts'
import type { EdgeSetup, ToEdge, ToState } from './thread-messages.ts'

export class EdgeSide {
  readonly #setup: EdgeSetup
  readonly #outbox: Outbox<ToState>
  readonly #addresses: ClientAddresses
  readonly #server: Server
  readonly #destroySilent: () => void
  readonly #sockets = new Map<number, Socket>()
  readonly #exchanges = new Map<number, EdgeExchange>()
  readonly #ids = new Attached<Socket, number>()
  #lastConnection = 0
  #lastRequest = 0
  #isStopping = false

  constructor(setup: EdgeSetup, outbox: Outbox<ToState>) {
    const { tls, connectionsMax, proxyProtocol } = setup
    this.#setup = setup
    this.#outbox = outbox
    this.#addresses = new ClientAddresses(setup)
    this.#server = listenerServer({
      // The state follows the files of the certificate, and says when they change.
      edge: {
        tls: tls === null ? null : { options: tls, follow: () => undefined },
        now: () => performance.now(),
      },
      connectionsMax,
      addresses: this.#addresses,
      proxyProtocol,
      logger: new LineLogger(outbox),
      onRequest: inTurns((request, response) => this.#onRequest(request, response)),
    })
    takeOverContinue(this.#server)
    this.#server.on('clientError', (error: ParserError, socket: Socket) => this.#onUnclear(error, socket))
    this.#destroySilent = silentConnections(this.#server, tls !== null || proxyProtocol)
  }

  listen(): void {
    const { host, port } = this.#setup.listen
    const refused = ({ code = 'unknown', message }: NodeJS.ErrnoException): void =>
      this.#outbox.send({ kind: 'refused', code, message })
    this.#server.once('error', refused)
    // One address for all threads: the system chooses the thread of a connection.
    this.#server.listen({ host, port, reusePort: true }, () => {
      this.#server.off('error', refused)
      this.#outbox.send({ kind: 'listening', port: (this.#server.address() as AddressInfo).port })
    })
  }

  receive(message: ToEdge): void {
    switch (message.kind) {
      case 'answer':
        return this.#exchanges.get(message.request)?.onAnswer(message)
      case 'continue':
        return this.#exchanges.get(message.request)?.onContinue()
      case 'credit':
        return this.#exchanges.get(message.request)?.addCredit(message.bytes)
      case 'destroy':
        return void this.#sockets.get(message.connection)?.destroy()
      case 'say':
        return void this.#sockets.get(message.connection)?.end(message.text)
      case 'certificate':
        return (this.#server as HttpsServer).setSecureContext(message.options)
      case 'closeIdle':
        return this.#server.closeIdleConnections()
      case 'stop':
        return this.#stop()
    }
  }

  /** No connection outlives its last answer. */
  #stop(): void {
    this.#isStopping = true
    this.#server.close(() => this.#outbox.send({ kind: 'stopped' }))
    this.#destroySilent()
  }

  #onRequest(request: IncomingMessage, response: ServerResponse): void {
    this.#lastRequest += 1
    const id = this.#lastRequest
    const exchange = new EdgeExchange({
      id,
      connection: this.#connectionOf(request.socket),
      request,
      response,
      outbox: this.#outbox,
      forget: () => this.#exchanges.delete(id),
    })
    this.#exchanges.set(id, exchange)
    response.once('close', () => {
      if (this.#isStopping) setImmediate(() => this.#server.closeIdleConnections())
    })
  }

  #onUnclear(error: ParserError, socket: Socket): void {
    if (isWithoutAnswer(error, socket)) return void socket.destroy()
    const { code = null, message } = error
    this.#outbox.send({ kind: 'unclear', connection: this.#connectionOf(socket), code, message })
  }

  #connectionOf(socket: Socket): number {
    const known = this.#ids.get(socket)
    if (known !== undefined) return known
    this.#lastConnection += 1
    const connection = this.#lastConnection
    this.#ids.set(socket, connection)
    this.#sockets.set(connection, socket)
    const { remoteAddress = '', remotePort = 0 } = socket
    const isEncrypted = socket instanceof TLSSocket
    this.#outbox.send({
      kind: 'connected',
      connection,
      remoteAddress,
      remotePort,
      isEncrypted,
      client: this.#addresses.ofConnection(socket),
      certificate: isEncrypted ? shownBy(socket) : null,
    })
    socket.once('close', () => {
      this.#sockets.delete(connection)
      this.#outbox.send({ kind: 'closed', connection })
    })
    return connection
  }
}
