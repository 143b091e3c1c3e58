/**
 * The transport port of one simulated process.
 *
 * Owns: handlers, both sides of a call, streams that break in the middle. Knows nothing of: delays and partitions.
 * Rule: it promises what PeerTransport promises and no more; a header crosses as MessagePack, a body as bytes.
 */
import type { Message, NodeId } from '../../../cluster/raft/types.ts'
import type { PeerClaims, PeerObjection, PeerStatus } from '../../../cluster/transport/peer-identity.ts'
import { copyOfHeader } from '../../../cluster/transport/call-self.ts'
import { runHandler } from '../../../cluster/transport/run-handler.ts'
import {
  type ByteStream,
  type CallHandler,
  type CallRequest,
  type CallResponse,
  type OutgoingAnswer,
  PeerRefusedError,
  PeerUnreachableError,
  type Transport,
  type TransportEvents,
} from '../../../cluster/transport/transport.ts'
import type { Logger } from '../../../cluster/base/types.ts'
import type { Clock } from '../../../cluster/base/clock.ts'
import type { Owner } from './event-queue.ts'
import type { NetworkHost, SimNetwork } from './sim-network.ts'

export interface SimTransportParts {
  readonly network: SimNetwork
  readonly host: NetworkHost
  readonly owner: Owner
  readonly incarnation: string
  readonly clock: Clock
  readonly logger: Logger
  readonly peerStatus: () => PeerStatus
  readonly judge: (claims: PeerClaims) => PeerObjection | null
  /** Where members change: the accepted peers and known addresses. Without it every node is known. */
  readonly book?: AddressBook | undefined
  /** Has passed every check of its identity. */
  readonly onContact?: ((claims: PeerClaims) => void) | undefined
  /** Asked before every effect; false: the process is gone. */
  readonly isAlive: () => boolean
  readonly onSend: (message: Message) => void
}

export interface AddressBook {
  readonly addresses: ReadonlyMap<NodeId, string>
  knows(peer: NodeId): boolean
}

const CALL_TIMEOUT_MS = 10_000
/** One for each use: a shared promise keeps every waiter in memory forever. */
const never = (): Promise<never> => new Promise(() => undefined)

export class SimTransport implements Transport {
  /** The virtual wires carry no TLS. */
  readonly fingerprint = null
  readonly #parts: SimTransportParts
  readonly #handlers = new Map<string, CallHandler>()
  readonly #contacts = new Map<NodeId, number>()
  #events: TransportEvents | null = null
  #isStopped = false
  /** Sent in this turn. */
  #outgoing: Message[] = []

  constructor(parts: SimTransportParts) {
    this.#parts = parts
  }

  async start(events: TransportEvents): Promise<void> {
    this.#events = events
  }

  send(message: Message): void {
    if (this.#isStopped || !this.#parts.isAlive()) return
    if (!this.#isReachable(message.to)) return
    this.#parts.onSend(message)
    this.#outgoing.push(message)
  }

  handle(method: string, handler: CallHandler): void {
    this.#handlers.set(method, handler)
  }

  /** Ends a turn: its messages leave. */
  flush(): void {
    if (this.#outgoing.length === 0) return
    const messages = this.#outgoing
    this.#outgoing = []
    this.#parts.network.depart(
      { host: this.#parts.host, owner: this.#parts.owner, claims: this.claims },
      messages,
    )
  }

  /** The claims of this process in every request. */
  get claims(): PeerClaims {
    const { host, incarnation, peerStatus } = this.#parts
    return { nodeId: host.id, incarnation, ...peerStatus() }
  }

  get isOpen(): boolean {
    return this.#events !== null && !this.#isStopped
  }

  /** Returns why they were refused, or null. */
  receive(claims: PeerClaims, messages: readonly Message[]): string | null {
    const objection = this.#objectionTo(claims)
    if (objection === null) this.#events?.onMessages(messages)
    return objection?.code ?? null
  }

  /** On the clock of this process, ms: the last message or answer of this peer. */
  lastContact(peer: NodeId): number | null {
    return this.#contacts.get(peer) ?? null
  }

  refused(peer: NodeId, code: string): void {
    if (this.#isStopped) return
    this.#contact(peer)
    this.#events?.onRefused?.(peer, code)
    this.#events?.onUnreachable(peer)
  }

  giveUp(peer: NodeId): void {
    if (!this.#isStopped) this.#events?.onUnreachable(peer)
  }

  call(to: NodeId, method: string, request: CallRequest): Promise<CallResponse> {
    if (!this.#parts.isAlive()) return never()
    if (this.#isStopped) return Promise.reject(new PeerUnreachableError(to, 'this node is stopping'))
    const { network, clock, host } = this.#parts
    if (!this.#isReachable(to))
      return Promise.reject(new PeerUnreachableError(to, 'no address of it is known'))
    const header = copyOfHeader(request.header)
    const body = bytesOf(request.body)
    const target = network.host(to)
    return new Promise((resolve, reject) => {
      const lost = (why: string): void =>
        settle(() => reject(new PeerUnreachableError(to, `Call ${method}: ${why}`)))
      const timer = clock.after(request.timeoutMs ?? CALL_TIMEOUT_MS, () => lost('no answer'))
      const onAbort = (): void => lost('aborted')
      let isOver = false
      const settle = (how: () => void): void => {
        if (isOver) return
        isOver = true
        timer.cancel()
        request.signal?.removeEventListener('abort', onAbort)
        how()
      }
      if (request.signal?.aborted === true) return lost('aborted')
      request.signal?.addEventListener('abort', onAbort)
      const { claims } = this
      network.carry(
        { from: host, to: target, client: this.#parts.owner, stallMs: network.stallMs() },
        'call',
        () =>
          this.#answerAt(
            target,
            { claims, method, header, body },
            {
              resolve: (answer) => {
                this.#contact(to)
                // Too late: no reader is left.
                if (isOver) leave(answer.body)
                settle(() => resolve(answer))
              },
              reject: (error) => {
                if (error instanceof PeerRefusedError) this.#contact(to)
                settle(() => reject(error))
              },
            },
          ),
        // Half of the losses are noticed, like a refused connection.
        network.random.chance(0.5) ? () => lost('out of reach') : undefined,
      )
    })
  }

  async stop(): Promise<void> {
    this.#isStopped = true
  }

  /** Runs at the called node; the outcome travels back. */
  #answerAt(
    target: NetworkHost,
    { claims, ...call }: WireCall & { readonly claims: PeerClaims },
    caller: { readonly resolve: (answer: CallResponse) => void; readonly reject: (error: Error) => void },
  ): void {
    const { network, host, owner } = this.#parts
    const { process } = target
    const back = (kind: string, arrive: () => void, lost: () => void = () => undefined): void => {
      const way = { from: target, to: host, client: process ?? owner }
      network.carry(way, kind, () => (owner.isDead ? lost() : arrive()), lost)
    }
    if (process === null) {
      back('call refused', () => caller.reject(new PeerUnreachableError(target.id, 'no process listens')))
      return
    }
    process.transport.#run(claims, call).then(
      (answer) => {
        if (process.isDead) return
        const header = copyOfHeader(answer.header)
        const source = { network, from: target, to: host, process }
        const body = copyOf(answer.body)
        back(
          'answer',
          () =>
            caller.resolve({ header, body: body instanceof Uint8Array ? one(body) : carried(body, source) }),
          () => leave(body),
        )
      },
      (error: Error) => {
        if (!process.isDead) back('refusal', () => caller.reject(error))
      },
    )
  }

  async #run(claims: PeerClaims, { method, header, body }: WireCall): Promise<OutgoingAnswer> {
    const { host, logger } = this.#parts
    if (!this.isOpen) throw new PeerUnreachableError(host.id, 'not open')
    const objection = this.#objectionTo(claims)
    if (objection !== null) throw new PeerRefusedError(objection.code, objection.message)
    const context = { self: host.id, method, handler: this.#handlers.get(method), logger }
    return runHandler(context, { from: claims.nodeId, header, body: one(body) })
  }

  /** After any answer: the peer is alive. */
  #contact(peer: NodeId): void {
    this.#contacts.set(peer, this.#parts.clock.now())
  }

  #isReachable(peer: NodeId): boolean {
    return this.#parts.book?.addresses.has(peer) !== false
  }

  #objectionTo(claims: PeerClaims): { readonly code: string; readonly message: string } | null {
    const { book, judge, onContact } = this.#parts
    if (book?.knows(claims.nodeId) === false)
      return { code: 'unknown_member', message: `Node '${claims.nodeId}' is no member of this cluster` }
    const objection = judge(claims)
    if (objection !== null) return objection
    this.#contact(claims.nodeId)
    onContact?.(claims)
    return null
  }
}

interface WireCall {
  readonly method: string
  readonly header: unknown
  readonly body: Uint8Array
}

interface Source {
  readonly network: SimNetwork
  readonly from: NetworkHost
  readonly to: NetworkHost
  readonly process: Owner
}

/** Each chunk is an event of its own, and may break the stream; then the sender is notified as well. */
function carried(body: ByteStream, { network, from, to, process }: Source): ByteStream {
  const stream = body[Symbol.asyncIterator]()
  const reader = to.process
  if (reader === null) return one(new Uint8Array(0))
  const close = (): void => {
    if (!process.isDead) void stream.return?.()
  }
  const forget = network.opened(reader, close)
  const over = (): void => {
    forget()
    close()
  }
  const next = (): Promise<IteratorResult<Uint8Array>> =>
    new Promise((resolve, reject) => {
      const breakOff = (): void => {
        over()
        reject(new PeerUnreachableError(from.id, `The stream from ${from.id} broke off`))
      }
      const arrive = (): void => {
        if (process.isDead) return breakOff()
        stream.next().then((step) => {
          if (step.done === true) forget()
          resolve(step.done === true ? step : { done: false, value: Uint8Array.from(step.value) })
        }, reject)
      }
      network.carry({ from, to, client: reader }, 'chunk', arrive, breakOff)
    })
  const leave = async (): Promise<IteratorResult<Uint8Array>> => {
    over()
    return { done: true, value: undefined }
  }
  return { [Symbol.asyncIterator]: () => ({ next, return: leave }) }
}

/** Bytes travel with the answer, a stream behind it. */
function copyOf(body: OutgoingAnswer['body']): Uint8Array | ByteStream {
  if (body === undefined) return new Uint8Array(0)
  return body instanceof Uint8Array ? Uint8Array.from(body) : body
}

function leave(body: OutgoingAnswer['body']): void {
  if (body !== undefined && !(body instanceof Uint8Array)) void body[Symbol.asyncIterator]().return?.()
}

async function* one(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes
}

function bytesOf(body: CallRequest['body']): Uint8Array {
  if (body === undefined) return new Uint8Array(0)
  if (body instanceof Uint8Array) return Uint8Array.from(body)
  if (Array.isArray(body)) return Buffer.concat(body as readonly Uint8Array[])
  throw new Error('a simulated call sends bytes, no stream')
}
