/**
 * Answers other nodes: accepts batches, runs calls, refuses all other requests.
 *
 * Owns: one exchange from its first header to its last byte. Knows nothing of: what batches and calls mean.
 * Rule: no request can stop the process or hold memory without a bound. If a body breaks off, its handler receives an error; if an
 * answer breaks off, its caller does.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { TLSSocket } from 'node:tls'
import type { Message, NodeId } from '../raft/types.ts'
import type { Logger } from '../base/types.ts'
import { decodeBatch, encodeHeader, FRAME_BYTES_MAX, MalformedFrameError } from './frame.ts'
import { IncomingBody } from './incoming-body.ts'
import { payloadOf } from './outgoing-body.ts'
import {
  checkIdentity,
  checkMethod,
  type IdentityRules,
  RAFT_METHOD,
  type Refusal,
  refusal,
} from './peer-identity.ts'
import type { PeerTls } from './peer-tls.ts'
import type { PeerTraffic } from './peer-traffic.ts'
import { runHandler } from './run-handler.ts'
import { type CallHandler, type OutgoingAnswer, PeerRefusedError, PeerUnreachableError } from './transport.ts'

export interface PeerServerOptions {
  readonly rules: Omit<IdentityRules, 'certifies'>
  readonly tls: PeerTls | null
  readonly traffic: PeerTraffic
  readonly logger: Logger
  readonly isStopping: () => boolean
  readonly handlerOf: (method: string) => CallHandler | undefined
  readonly onBatch: (messages: readonly Message[]) => void
  /** A request of this member has passed every check of its identity. */
  readonly onContact: (peer: NodeId) => void
}

/** How much of an unused body is read and discarded, so that its sender receives the answer. Bytes. */
const LEFTOVER_BYTES_MAX = 8 * 1024 * 1024

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly from: NodeId
  readonly method: string
}

export class PeerServer {
  readonly #options: PeerServerOptions
  /** A cache, because asking OpenSSL for every request of a connection would cost more than the request. */
  readonly #certified = new WeakMap<Socket, NodeId>()

  constructor(options: PeerServerOptions) {
    this.#options = options
  }

  readonly onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    this.#serve(request, response).catch((err: unknown) => {
      this.#options.logger.warn({ err }, 'exchange with peer broke off')
      response.destroy()
    })
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const admitted = this.#admit(request)
    if ('status' in admitted) {
      const { code, message } = admitted
      this.#options.logger.warn(
        { code, reason: message, remote: request.socket.remoteAddress },
        'peer request refused',
      )
      return this.#refuse(request, response, admitted)
    }
    this.#options.traffic.contact(admitted.from)
    this.#options.onContact(admitted.from)
    const exchange = { request, response, ...admitted }
    return admitted.method === RAFT_METHOD ? this.#takeBatch(exchange) : this.#takeCall(exchange)
  }

  #admit(request: IncomingMessage): { readonly from: NodeId; readonly method: string } | Refusal {
    const { rules, isStopping } = this.#options
    if (isStopping()) return refusal('shutting_down', `Node ${rules.self.nodeId} is stopping`)
    const named = checkMethod(request.method, request.url)
    if ('status' in named) return named
    const claims = checkIdentity(request.headers, {
      ...rules,
      certifies: (nodeId) => this.#certifies(request.socket, nodeId),
    })
    return 'status' in claims ? claims : { from: claims.nodeId, method: named.method }
  }

  #certifies(socket: Socket, nodeId: NodeId): boolean {
    const { tls } = this.#options
    if (tls === null) return true
    if (this.#certified.get(socket) === nodeId) return true
    const certificate = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined
    if (certificate === undefined || !tls.certifies(certificate, nodeId)) return false
    this.#certified.set(socket, nodeId)
    return true
  }

  async #takeBatch({ request, response, from }: Exchange): Promise<void> {
    const { rules, traffic, logger, onBatch } = this.#options
    const bytes = await readWhole(request)
    if (bytes === null)
      return this.#refuse(
        request,
        response,
        refusal('frame_too_large', `A batch has at most ${FRAME_BYTES_MAX} bytes`),
      )
    traffic.add(from, 'receivedBytes', bytes.length)
    let messages: readonly Message[]
    try {
      messages = decodeBatch(bytes, { from, to: rules.self.nodeId })
    } catch (err) {
      if (!(err instanceof MalformedFrameError)) throw err
      logger.warn({ peer: from, err }, 'malformed batch refused')
      return this.#refuse(request, response, refusal('malformed_frame', err.message))
    }
    traffic.add(from, 'receivedMessages', messages.length)
    response.writeHead(204).end()
    // As a separate microtask: an error of the driver is a bug of this node and must stop it, not become a refusal.
    queueMicrotask(() => onBatch(messages))
  }

  async #takeCall(exchange: Exchange): Promise<void> {
    const { rules, handlerOf, logger } = this.#options
    const { request, response, from, method } = exchange
    const body = this.#bodyOf(exchange)
    try {
      const header = await body.readHeader()
      const context = { self: rules.self.nodeId, method, handler: handlerOf(method), logger }
      const answer = await runHandler(context, { from, header, body })
      await this.#answer(exchange, answer)
    } catch (err) {
      if (response.headersSent) throw err
      if (err instanceof PeerRefusedError)
        this.#refuse(request, response, { ...statusOf(err), message: err.message })
      else if (err instanceof MalformedFrameError)
        this.#refuse(request, response, refusal('malformed_frame', err.message))
      else throw err
    }
  }

  #bodyOf({ request, from }: Exchange): IncomingBody {
    const { traffic } = this.#options
    return new IncomingBody({
      // The socket outlives the body: the answer still has to be sent on it.
      chunks: request.iterator({ destroyOnReturn: false }),
      onBytes: (count) => traffic.add(from, 'receivedBytes', count),
      blame: (cause) => new PeerUnreachableError(from, `The request of ${from} broke off`, { cause }),
      release: () => {},
    })
  }

  async #answer({ request, response, from }: Exchange, answer: OutgoingAnswer): Promise<void> {
    const { traffic } = this.#options
    const payload = payloadOf(encodeHeader(answer.header), answer.body, (count) =>
      traffic.add(from, 'sentBytes', count),
    )
    response.once('finish', () => discardLeftover(request))
    response.writeHead(200, payload.length === null ? {} : { 'content-length': payload.length })
    if (payload.body instanceof Readable) await sendStream(payload.body, response)
    else response.end(payload.body)
  }

  #refuse(request: IncomingMessage, response: ServerResponse, { status, code, message }: Refusal): void {
    const body = encodeHeader({ code, message })
    response.once('finish', () => discardLeftover(request))
    response.writeHead(status, { 'content-length': body.length }).end(body)
  }
}

/** Ends the stream on every path: if the caller has gone before the start, the pipeline throws and does not touch the stream. */
async function sendStream(body: Readable, response: ServerResponse): Promise<void> {
  try {
    await pipeline(body, response)
  } finally {
    body.destroy()
  }
}

/** Codes of handlers share one status; the code itself is in the body. */
function statusOf({ code }: PeerRefusedError): Pick<Refusal, 'status' | 'code'> {
  if (code === 'internal' || code === 'unknown_method') return refusal(code, '')
  return { ...refusal('handler_refused', ''), code }
}

/** null: larger than a batch may be. */
async function readWhole(request: IncomingMessage): Promise<Buffer | null> {
  const parts: Buffer[] = []
  let length = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > FRAME_BYTES_MAX) return null
    parts.push(chunk)
  }
  return Buffer.concat(parts, length)
}

/** Closing at once would reset the connection, and a sender that is still writing would lose the answer. */
function discardLeftover(request: IncomingMessage): void {
  if (request.complete && request.readableLength === 0) return
  let discarded = 0
  request.removeAllListeners('readable')
  request.on('data', (chunk: Buffer) => {
    discarded += chunk.length
    if (discarded > LEFTOVER_BYTES_MAX) request.socket.destroy()
  })
  request.resume()
}
