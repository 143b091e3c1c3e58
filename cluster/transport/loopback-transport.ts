/**
 * Transports of the nodes of one process, for tests and simulations.
 *
 * Owns: handlers, and both sides of a call. Knows nothing of: delays and partitions, which LoopbackWire decides.
 * Rule: it guarantees exactly what PeerTransport guarantees; test/port-suites/transport.ts tests both.
 */
import assert from 'node:assert/strict'
import type { Message, NodeId } from '../raft/types.ts'
import { asStream, callSelf, copyOfHeader } from './call-self.ts'
import { Deadline, raceAbort } from './deadline.ts'
import type { LoopbackLink } from './loopback-link.ts'
import { LoopbackWire, type WiredNode } from './loopback-wire.ts'
import { FIRST_STATUS, type PeerClaims, type PeerPolicy } from './peer-identity.ts'
import { runHandler } from './run-handler.ts'
import {
  type CallHandler,
  type CallRequest,
  type CallResponse,
  type IncomingCall,
  PeerRefusedError,
  PeerUnreachableError,
  type Transport,
  type TransportEvents,
} from './transport.ts'

const CALL_TIMEOUT_MS = 10_000

export interface LoopbackNodeOptions extends PeerPolicy {
  readonly incarnation: string
}

export class LoopbackNetwork extends LoopbackWire<LoopbackTransport> {
  /** A node that starts again gets a new transport. */
  transport(nodeId: NodeId, options: LoopbackNodeOptions): LoopbackTransport {
    return new LoopbackTransport(this, nodeId, options)
  }
}

export class LoopbackTransport implements Transport, WiredNode {
  readonly nodeId: NodeId
  readonly #wire: LoopbackWire<LoopbackTransport>
  readonly #options: LoopbackNodeOptions
  readonly #handlers = new Map<string, CallHandler>()
  #events: TransportEvents | null = null
  #stopped = false

  constructor(wire: LoopbackWire<LoopbackTransport>, nodeId: NodeId, options: LoopbackNodeOptions) {
    this.#wire = wire
    this.nodeId = nodeId
    this.#options = options
  }

  async start(events: TransportEvents): Promise<void> {
    assert(this.#events === null, 'a transport is started once')
    this.#events = events
    this.#wire.join(this)
  }

  send(message: Message): void {
    assert(
      message.from === this.nodeId && message.to !== this.nodeId,
      `${message.type} is not from this node to another`,
    )
    assert(this.#events !== null, 'messages are sent after start')
    if (!this.#stopped) this.#wire.post(this, message)
  }

  handle(method: string, handler: CallHandler): void {
    assert(this.#events === null, 'handlers are set before start')
    assert(!this.#handlers.has(method), `'${method}' has a handler already`)
    this.#handlers.set(method, handler)
  }

  async call(to: NodeId, method: string, request: CallRequest): Promise<CallResponse> {
    const { clock } = this.#wire
    const timeoutMs = request.timeoutMs ?? CALL_TIMEOUT_MS
    if (this.#stopped)
      throw new PeerUnreachableError(to, `Cannot call ${method} on ${to}: this node is stopping`)
    if (to === this.nodeId) return callSelf(this.#contextOf(method), { request, clock, timeoutMs })
    const header = copyOfHeader(request.header)
    const deadline = new Deadline({ clock, timeoutMs, signal: request.signal })
    try {
      const { link, target } = await deadline.race(this.#wire.connect(this.nodeId, to))
      deadline.signal.addEventListener('abort', () => link.break(deadline.signal.reason), { once: true })
      const work = this.#exchange({ link, target, method, deadline }, { ...request, header })
      return await raceAbort(link.signal, work)
    } catch (cause) {
      deadline.release()
      if (cause instanceof PeerRefusedError || cause instanceof PeerUnreachableError) throw cause
      const why = cause instanceof Error ? cause.message : String(cause)
      throw new PeerUnreachableError(to, `Call ${method} to ${to} failed: ${why}`, { cause })
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#wire.leave(this)
  }

  get claims(): PeerClaims {
    const { incarnation } = this.#options
    return { nodeId: this.nodeId, incarnation, ...(this.#options.peerStatus?.() ?? FIRST_STATUS) }
  }

  receive(claims: PeerClaims, messages: readonly Message[]): string | null {
    const objection = this.#options.judge?.(claims) ?? null
    if (objection !== null) return objection.code
    this.#events?.onMessages(messages)
    return null
  }

  refused(peer: NodeId, code: string): void {
    this.#events?.onRefused?.(peer, code)
    this.#events?.onUnreachable(peer)
  }

  giveUp(peer: NodeId): void {
    this.#events?.onUnreachable(peer)
  }

  async #exchange(
    {
      link,
      target,
      method,
      deadline,
    }: { link: LoopbackLink; target: LoopbackTransport; method: string; deadline: Deadline },
    request: CallRequest,
  ): Promise<CallResponse> {
    const sent = link.carry(asStream(request.body), this.nodeId)
    const call = { from: this.nodeId, header: request.header, body: sent }
    const answer = await target.answer(this, method, call).catch(async (err: unknown) => {
      await this.#wire.travel()
      this.#wire.disconnect(link)
      throw err
    })
    const header = copyOfHeader(answer.header)
    const body = link.carry(asStream(answer.body), target.nodeId, () => {
      deadline.release()
      this.#wire.disconnect(link)
      void sent.return()
    })
    await this.#wire.travel()
    // The caller has stopped waiting, and no other code would end the stream.
    if (link.signal.aborted) await body.return()
    deadline.met()
    return { header, body }
  }

  /** The receiving side of a call from `caller`. */
  async answer(caller: LoopbackTransport, method: string, call: IncomingCall) {
    const objection = this.#options.judge?.(caller.claims) ?? null
    if (objection === null) return runHandler(this.#contextOf(method), call)
    throw new PeerRefusedError(objection.code, objection.message)
  }

  #contextOf(method: string) {
    return { self: this.nodeId, method, handler: this.#handlers.get(method), logger: this.#wire.logger }
  }
}
