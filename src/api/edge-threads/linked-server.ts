/**
 * The server of a listener whose connections are on edge threads: to fastify it is one of node:http.
 *
 * Owns: the threads as one listener, with one address. Knows nothing of: requests, routes.
 * Rules: all threads listen before the listener does; limits of connections are divided, so that the threads together have no more than the limit.
 */
import { Server } from 'node:http'
import type { ServerOptions } from 'node:https'
import { type AddressInfo, createServer } from 'node:net'
import type { ThreadsOptions } from '../edge.ts'
import { EdgeSlot, type EdgeSlotParts } from './edge-slot.ts'
import type { EdgeSetup } from './thread-messages.ts'

interface Bind {
  readonly host: string
  readonly port: number
}

export class LinkedServer extends Server {
  readonly #options: ThreadsOptions
  readonly #slots: readonly EdgeSlot[]
  #tls: ServerOptions | null
  #address: AddressInfo | null = null
  #bind: Bind = { host: '', port: 0 }

  constructor(options: ThreadsOptions, threads: number, workerFile: URL) {
    super()
    // Those of node:http look after sockets, which are on other threads.
    this.removeAllListeners('listening').removeAllListeners('connection')
    Object.defineProperty(this, 'listening', { get: () => this.#address !== null })
    this.on('request', options.onRequest)
    this.#options = options
    const { edge, logger } = options
    this.#tls = edge.tls?.options ?? null
    edge.tls?.follow(this, logger, edge.clock)
    this.#slots = Array.from({ length: threads }, (_, index) => {
      const setup = (): EdgeSetup => this.#setup(index, threads)
      return new EdgeSlot({ logger, workerFile, setup, events: this.#events() })
    })
  }

  /** Emits 'listening' or 'error', as node:http does. */
  override listen(given?: unknown): this {
    const { host, port } = given as Bind
    this.#open({ host, port }).then(
      () => this.emit('listening'),
      (error: unknown) => this.emit('error', error),
    )
    return this
  }

  override address(): AddressInfo | null {
    return this.#address
  }

  override close(done: (error?: Error) => void = () => undefined): this {
    if (this.#address === null) {
      done(Object.assign(new Error('Server is not running.'), { code: 'ERR_SERVER_NOT_RUNNING' }))
      return this
    }
    void Promise.all(this.#slots.map((slot) => slot.stop())).then(() => {
      this.#address = null
      this.emit('close')
      done()
    })
    return this
  }

  override closeIdleConnections(): void {
    for (const slot of this.#slots) slot.send({ kind: 'closeIdle' })
  }

  /** Of new connections. */
  setSecureContext(options: ServerOptions): void {
    this.#tls = options
    for (const slot of this.#slots) slot.send({ kind: 'certificate', options })
  }

  /** Open now. Count */
  get connectionCount(): number {
    return this.#slots.reduce((sum, { connections }) => sum + connections, 0)
  }

  /** Threads that ended by themselves and were started again. Count */
  get restarts(): number {
    return this.#slots.reduce((sum, { restarts }) => sum + restarts, 0)
  }

  async #open(asked: Bind): Promise<void> {
    const address = await freeAddress(asked)
    this.#bind = { host: asked.host, port: address.port }
    try {
      await Promise.all(this.#slots.map((slot) => slot.start()))
    } catch (error) {
      await Promise.all(this.#slots.map((slot) => slot.terminate()))
      throw error
    }
    this.#address = address
  }

  #events(): EdgeSlotParts['events'] {
    const { addresses, logger } = this.#options
    return {
      onConnected: (socket, client) => {
        if (client !== addresses.ofConnection(socket)) addresses.connectedFrom(socket, client)
        this.emit('connection', socket)
      },
      onAsked: (request, response, isWaiting) =>
        this.emit(isWaiting ? 'checkContinue' : 'request', request, response),
      onUnclear: (error, socket) => this.emit('clientError', error, socket),
      onLine: (fields, message) => logger.warn(fields, message),
    }
  }

  #setup(index: number, threads: number): EdgeSetup {
    const { connectionsMax, proxyProtocol, trustedProxies } = this.#options
    return {
      listen: this.#bind,
      tls: this.#tls,
      connectionsMax: shareOf(connectionsMax, index, threads),
      trustedProxies,
      proxyProtocol,
    }
  }
}

/** The shares of all add up to the whole, and none is without a connection. */
function shareOf(whole: number, index: number, threads: number): number {
  return Math.max(1, Math.floor(whole / threads) + (index < whole % threads ? 1 : 0))
}

/**
 * The threads share their address, so each of them would also share it with a listener that another node of this user has there: the system lets all of
 * them listen. A socket that does not share is refused then. Rejects with the error of the system.
 */
function freeAddress({ host, port }: Bind): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    const trial = createServer()
    trial.once('error', reject)
    trial.listen({ host, port }, () => {
      const address = trial.address() as AddressInfo
      trial.close(() => resolve(address))
    })
  })
}
