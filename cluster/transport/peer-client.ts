/**
 * Requests to one peer: batches over a dedicated connection, calls over a small pool.
 *
 * Owns: undici, time limits, the errors for failures. Knows nothing of: queues, handlers.
 * Rule: bulk data never delays a heartbeat, so batches and calls share no connection. No request is repeated here, because only
 * the caller knows whether that is safe.
 */
import { Readable } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { buildConnector, Client, type Dispatcher, Pool } from 'undici'
import type { Clock } from '../base/clock.ts'
import type { NodeId } from '../raft/types.ts'
import type { PeerAddress } from '../base/types.ts'
import type { AddressMemory } from './address-memory.ts'
import { Deadline } from './deadline.ts'
import { encodeHeader, HEADER_BYTES_MAX, HEADER_LENGTH_BYTES, MalformedFrameError } from './frame.ts'
import { handshakeAdvice } from './handshake-advice.ts'
import { codeOf } from './handshake-refusals.ts'
import { IncomingBody } from './incoming-body.ts'
import { type OutgoingPayload, payloadOf } from './outgoing-body.ts'
import {
  identityHeaders,
  PATH_PREFIX,
  type PeerIdentity,
  type PeerStatus,
  RAFT_METHOD,
} from './peer-identity.ts'
import type { PeerTls } from './peer-tls.ts'
import type { PeerTraffic } from './peer-traffic.ts'
import { exchange } from './short-exchange.ts'
import { type CallRequest, type CallResponse, PeerRefusedError, PeerUnreachableError } from './transport.ts'

export interface PeerClientOptions {
  readonly self: PeerIdentity
  readonly peerStatus: () => PeerStatus
  readonly peer: NodeId
  /** The connection for batches broke or was closed: the outcome of batches in flight is unknown. */
  readonly onDisconnect: () => void
  readonly address: PeerAddress
  readonly tls: PeerTls | null
  readonly names: AddressMemory
  readonly clock: Clock
  readonly traffic: PeerTraffic
  readonly limits: PeerClientLimits
}

export interface PeerClientLimits {
  readonly connectTimeoutMs: number
  /** A batch that the peer has not accepted by then is dropped. ms */
  readonly batchTimeoutMs: number
  /** The default time limit of a call until the header of its answer. ms */
  readonly callTimeoutMs: number
  /** A body without any bytes for this long is aborted. ms */
  readonly bodyIdleMs: number
  readonly callConnectionsMax: number
  /** Calls to this peer that run or wait for a connection. Count. */
  readonly callsMax: number
  /** After so many calls or batches a connection of frames gives way to a new one: their numbers have 32 bits. Count. */
  readonly numbersMax: number
}

/** Shorter than the server's, so that the server never closes a connection while a request is in flight on it. ms */
const KEEP_ALIVE_MS = 30_000
/** The largest answer to a batch, other than an empty 204. Bytes. */
const REFUSAL_BYTES_MAX = HEADER_LENGTH_BYTES + HEADER_BYTES_MAX

export class PeerClient {
  readonly #options: PeerClientOptions
  readonly #batches: Client
  readonly #calls: Pool
  readonly #countSent: (count: number) => void
  /** For each open connection for calls: the fingerprint of the certificate that the peer presented. */
  readonly #certificates = new Map<TLSSocket, string>()
  #callsRunning = 0

  constructor(options: PeerClientOptions) {
    this.#options = options
    this.#countSent = (count) => options.traffic.add(options.peer, 'sentBytes', count)
    const origin = `${options.tls === null ? 'http' : 'https'}://${options.address}`
    this.#batches = new Client(
      origin,
      connectionOptions(options, () => {}),
    )
    this.#batches.on('disconnect', () => options.onDisconnect())
    this.#calls = new Pool(origin, {
      ...connectionOptions(options, (socket) => this.#remember(socket)),
      connections: options.limits.callConnectionsMax,
    })
  }

  async postBatch(batch: Uint8Array): Promise<void> {
    const { clock, limits, peer, traffic } = this.#options
    const { status, body } = await exchange({
      client: this.#batches,
      request: this.#request(RAFT_METHOD, { body: Buffer.from(batch), length: batch.length }),
      clock,
      timeoutMs: limits.batchTimeoutMs,
      answerBytesMax: REFUSAL_BYTES_MAX,
    })
    traffic.contact(peer)
    if (status !== 204) await this.#throwRefusal(this.#bodyOf(Readable.from([body]), () => {}))
  }

  async call(method: string, request: CallRequest): Promise<CallResponse> {
    const { clock, limits, peer } = this.#options
    if (this.#callsRunning >= limits.callsMax) {
      throw new PeerUnreachableError(peer, `More than ${limits.callsMax} calls to ${peer} are waiting`)
    }
    const header = encodeHeader(request.header)
    const timeoutMs = request.timeoutMs ?? limits.callTimeoutMs
    const deadline = new Deadline({ clock, timeoutMs, signal: request.signal })
    this.#callsRunning++
    try {
      return await this.#exchange(method, payloadOf(header, request.body, this.#countSent), deadline)
    } catch (cause) {
      deadline.release()
      throw this.#explain(`Call ${method} to ${peer} failed`, cause)
    } finally {
      this.#callsRunning--
    }
  }

  /** All requests in flight fail at once. */
  async close(): Promise<void> {
    const reason = new Error('This node closed its connections')
    await Promise.all([this.#batches.destroy(reason), this.#calls.destroy(reason)])
  }

  async #exchange(method: string, payload: OutgoingPayload, deadline: Deadline): Promise<CallResponse> {
    const { signal } = deadline
    const answer = await this.#calls.request({ ...this.#request(method, payload), signal })
    this.#options.traffic.contact(this.#options.peer)
    const body = this.#bodyOf(answer.body, () => deadline.release())
    try {
      if (answer.statusCode !== 200) await this.#throwRefusal(body)
      const header = await body.readHeader()
      deadline.met()
      return { header, body, certificate: this.#certificate() }
    } catch (err) {
      await body.return()
      throw err
    }
  }

  #remember(socket: TLSSocket): void {
    const certificate = socket.getPeerX509Certificate()
    if (certificate === undefined) return
    this.#certificates.set(socket, certificate.fingerprint256)
    socket.once('close', () => this.#certificates.delete(socket))
  }

  #certificate(): string | null {
    const [certificate = null, ...others] = new Set(this.#certificates.values())
    return others.length === 0 ? certificate : null
  }

  #request(method: string, payload: OutgoingPayload): Dispatcher.RequestOptions {
    const { self, peerStatus, peer } = this.#options
    const length = payload.length === null ? {} : { 'content-length': String(payload.length) }
    return {
      method: 'POST',
      path: PATH_PREFIX + method,
      headers: { ...identityHeaders(self, peerStatus(), peer), ...length },
      body: payload.body,
      // The deadline replaces it: it runs on the injected clock and covers the wait for a connection as well.
      headersTimeout: 0,
      bodyTimeout: this.#options.limits.bodyIdleMs,
    }
  }

  #bodyOf(chunks: Readable, release: () => void): IncomingBody {
    const { peer, traffic } = this.#options
    return new IncomingBody({
      chunks,
      onBytes: (count) => traffic.add(peer, 'receivedBytes', count),
      blame: (cause) => this.#explain(`The answer of ${peer} broke off`, cause),
      release: () => {
        release()
        if (!chunks.readableEnded) chunks.destroy()
      },
    })
  }

  /** A server that is not a peer may answer too: its header is unreadable, which is a separate error. */
  async #throwRefusal(body: IncomingBody): Promise<never> {
    const header = await body.readHeader()
    await body.return()
    const { code, message } = (header ?? {}) as { code?: unknown; message?: unknown }
    if (typeof code !== 'string' || typeof message !== 'string')
      throw new MalformedFrameError('The refusal names no code')
    throw new PeerRefusedError(code, message)
  }

  #explain(what: string, cause: unknown): Error {
    if (cause instanceof PeerRefusedError || cause instanceof PeerUnreachableError) return cause
    const { peer, traffic } = this.#options
    traffic.add(peer, 'failures')
    const why = cause instanceof Error ? cause.message : String(cause)
    return new PeerUnreachableError(peer, `${what}: ${why}`, { cause })
  }
}

type OnConnected = (socket: TLSSocket) => void

function connectionOptions(
  { tls, peer, names, limits }: PeerClientOptions,
  onConnected: OnConnected,
): Client.Options {
  const plain = { timeout: limits.connectTimeoutMs, keepAlive: true, lookup: names.lookup }
  return {
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: 16 * 1024,
    connect: tls === null ? plain : overTls({ tls, peer, onConnected }, plain),
  }
}

/** Each connection uses the current certificate. No session is resumed, so each connection proves the identity of the peer again. */
function overTls(
  { tls, peer, onConnected }: { tls: PeerTls; peer: NodeId; onConnected: OnConnected },
  plain: buildConnector.BuildOptions,
): buildConnector.connector {
  return (options, callback) => {
    const connect = buildConnector({ ...plain, maxCachedSessions: 0, ...tls.client(peer) })
    connect(options, (...[error, socket]) => {
      if (error !== null) return callback(advised(error), null)
      if (socket instanceof TLSSocket) onConnected(socket)
      callback(null, socket)
    })
  }
}

function advised(error: Error): Error {
  const advice = handshakeAdvice(codeOf(error))
  return advice === null ? error : new Error(`${error.message}. ${advice.hint}`, { cause: error })
}
