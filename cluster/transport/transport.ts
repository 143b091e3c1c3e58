/**
 * The port between nodes: Raft messages without a promise of delivery, and calls with an answer.
 *
 * Owns: what rooms may expect of any transport. Adapters: HttpTransport (undici out, node:http(s) in) and
 * LoopbackTransport (tests; delay, loss and partitions on a virtual clock).
 * Knows nothing of: what the bytes mean. Rule: every request carries cluster id, sender,
 * receiver, incarnation and standing, and is refused when they do not fit.
 */
import type { Message, NodeId } from '../raft/types.ts'

/** A body that is read once. Whoever reads it may do with its pieces what he likes. */
export type ByteStream = AsyncIterable<Uint8Array>

export interface CallRequest {
  /** Plain data (msgpack); at most 64 KiB once packed. */
  readonly header: unknown
  readonly body?: Uint8Array | readonly Uint8Array[] | ByteStream
  readonly signal?: AbortSignal
  /** Until the answer's header has arrived. Default 10 s. */
  readonly timeoutMs?: number
}

export interface CallResponse {
  readonly header: unknown
  /** Must be drained or destroyed by `return()`. */
  readonly body: ByteStream
  /** Fingerprint of the certificate that the other side showed; null: it showed none, or not the same on all connections. */
  readonly certificate?: string | null
}

export interface IncomingCall {
  readonly from: NodeId
  readonly header: unknown
  readonly body: ByteStream
}

export interface OutgoingAnswer {
  readonly header: unknown
  readonly body?: Uint8Array | ByteStream
}

export type CallHandler = (call: IncomingCall) => Promise<OutgoingAnswer>

/** The answer of a peer that could be reached and said no. `code` is for programs. */
export class PeerRefusedError extends Error {
  readonly code: string
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'PeerRefusedError'
    this.code = code
  }
}

/** Nothing is known about whether the call took effect. */
export class PeerUnreachableError extends Error {
  readonly peer: NodeId
  constructor(peer: NodeId, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'PeerUnreachableError'
    this.peer = peer
  }
}

export interface TransportEvents {
  onMessages(messages: readonly Message[]): void
  /** A batch to this peer was given up. */
  onUnreachable(peer: NodeId): void
  /** A peer that was reached does not take messages of this node; `code` as in a PeerRefusedError. Comes with `onUnreachable`. */
  onRefused?(peer: NodeId, code: string): void
}

export interface Transport {
  /** Listens; resolves when calls can come in. Handlers and events are set before. */
  start(events: TransportEvents): Promise<void>
  /** Fire and forget. Bounded: when the lane to a peer is full, the oldest messages are dropped. */
  send(message: Message): void
  handle(method: string, handler: CallHandler): void
  /** Throws PeerRefusedError or PeerUnreachableError. A call to oneself never touches a socket. */
  call(to: NodeId, method: string, request: CallRequest): Promise<CallResponse>
  stop(): Promise<void>
}
