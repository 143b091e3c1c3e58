/**
 * The port between nodes: Raft messages without guaranteed delivery, and calls with an answer.
 *
 * Owns: the guarantees of any transport. Adapters: PeerTransport (frames over TLS, HTTP to older nodes) and LoopbackTransport (tests;
 * delay, loss and partitions on a virtual clock).
 * Knows nothing of: what the bytes mean. Rule: every request carries cluster id, sender, receiver, incarnation and status, and is
 * refused when they do not fit.
 */
import type { Message, NodeId } from '../raft/types.ts'

/** A body that is read once. Its pieces belong to the reader. */
export type ByteStream = AsyncIterable<Uint8Array>

export interface CallRequest {
  /** Plain data (msgpack); at most 64 KiB once packed. */
  readonly header: unknown
  readonly body?: Uint8Array | readonly Uint8Array[] | ByteStream
  readonly signal?: AbortSignal
  /** The time limit until the answer's header has arrived. Default 10 s. */
  readonly timeoutMs?: number
}

export interface CallResponse {
  readonly header: unknown
  /** Must be drained or destroyed by `return()`. */
  readonly body: ByteStream
  /** Fingerprint of the certificate that the other side presented; null: it presented none, or not the same on all connections. */
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

/** A reachable peer refused the call. `code` is for programs. */
export class PeerRefusedError extends Error {
  readonly code: string
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'PeerRefusedError'
    this.code = code
  }
}

/** It is unknown whether the call took effect. */
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
  /** A batch to this peer was dropped. */
  onUnreachable(peer: NodeId): void
  /** A reachable peer refuses messages of this node; `code` as in a PeerRefusedError. Followed by `onUnreachable`. */
  onRefused?(peer: NodeId, code: string): void
}

/** Calls between nodes, without the messages of Raft. */
export interface PeerCalls {
  handle(method: string, handler: CallHandler): void
  /** Throws PeerRefusedError or PeerUnreachableError. A call to oneself never touches a socket. */
  call(to: NodeId, method: string, request: CallRequest): Promise<CallResponse>
}

export interface Transport extends PeerCalls {
  /** Listens; resolves when calls can come in. Handlers and events must be set before. */
  start(events: TransportEvents): Promise<void>
  /** Fire and forget. Bounded: when the lane to a peer is full, the oldest messages are dropped. */
  send(message: Message): void
  /** Runs `work` once, before what was sent in this turn of the event loop leaves. Absent: what is sent leaves at no particular moment. */
  readonly atTurnEnd?: (work: () => void) => void
  stop(): Promise<void>
}
