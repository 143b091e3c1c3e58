/**
 * One call on a connection of frames, at the side of the caller.
 *
 * Owns: its time limit and signal, the body that it sends, the answer that it receives. Knows nothing of: other calls.
 * Rule: it ends once. When its caller, its time limit or its source ends it before the answer, it asks the peer to stop.
 */
import type { Clock, Timer } from '../base/clock.ts'
import type { NodeId } from '../raft/types.ts'
import { decodeHeader } from './frame.ts'
import { FrameBodyReader, type FrameBodySender } from './frame-body.ts'
import { decodeCount, decodeRefused, encodeCount, methodHead, splitHeader } from './frame-payloads.ts'
import { sendWithBody } from './frame-sending.ts'
import type { FrameSocket } from './frame-socket.ts'
import { MalformedFrameError } from './msgpack-guard.ts'
import type { PeerTraffic } from './peer-traffic.ts'
import { type CallRequest, type CallResponse, PeerRefusedError, PeerUnreachableError } from './transport.ts'
import { type Frame, FRAME } from './wire-frame.ts'

export interface FrameCallParts {
  readonly stream: number
  readonly method: string
  readonly peer: NodeId
  readonly frames: FrameSocket
  readonly clock: Clock
  readonly traffic: PeerTraffic
  readonly bodyIdleMs: number
  readonly timeoutMs: number
  /** Once: nothing of the call is under way any more. */
  readonly onDone: () => void
}

/** A body that the peer does not take for this long ends its call. ms */
const STALL_MS = 120_000

export class FrameCall {
  readonly #parts: FrameCallParts
  readonly #answer: FrameBodyReader
  #sender: FrameBodySender | null = null
  #settle: { resolve(response: CallResponse): void; reject(error: Error): void } | null = null
  #timer: Timer | null = null
  #signal: AbortSignal | undefined
  #isDone = false
  readonly #startedMs: number
  readonly #onAbort = (): void => this.#cancel(this.#signal?.reason)

  constructor(parts: FrameCallParts) {
    this.#parts = parts
    this.#startedMs = parts.clock.now()
    const { clock, bodyIdleMs, frames, stream, peer } = parts
    this.#answer = new FrameBodyReader({
      clock,
      idleMs: bodyIdleMs,
      giveCredit: (bytes) => frames.send({ type: FRAME.credit, stream, payload: [encodeCount(bytes)] }),
      pool: frames.pool,
      cancel: (cause) => this.#cancel(cause),
      onDone: () => this.#done(),
      blame: (cause) => this.#explain(`The answer of ${peer} broke off`, cause),
    })
  }

  run(header: Uint8Array, { body, signal }: CallRequest): Promise<CallResponse> {
    const { clock, timeoutMs } = this.#parts
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject }
      // Its caller has left already.
      if (signal?.aborted === true) return this.fail(signal.reason)
      this.#timer = clock.after(timeoutMs, () => this.#cancel(new Error(`No answer within ${timeoutMs} ms`)))
      this.#signal = signal
      signal?.addEventListener('abort', this.#onAbort, { once: true })
      this.#send(header, body)
    })
  }

  onFrame({ type, payload, isLast }: Frame): void {
    if (type === FRAME.answer) return this.#answered(payload, isLast)
    if (type === FRAME.refused) return this.#finish(decodeRefused(payload))
    if (type === FRAME.credit) return this.#sender?.addCredit(decodeCount(payload))
    if (type === FRAME.reset) return this.fail(new Error('The peer broke the call off'))
    if (this.#settle !== null) throw new MalformedFrameError('A body came before its answer')
    this.#count('receivedBytes', payload.length)
    this.#answer.push(payload, isLast)
  }

  /** Nothing more comes from the peer. */
  fail(cause: unknown): void {
    const { method, peer } = this.#parts
    this.#sender?.stop()
    if (this.#settle !== null) return this.#finish(this.#explain(`Call ${method} to ${peer} failed`, cause))
    this.#answer.fail(cause)
    this.#done()
  }

  #send(header: Uint8Array, body: CallRequest['body']): void {
    const { stream, method, frames, clock } = this.#parts
    this.#count('sentBytes', header.length)
    this.#sender = sendWithBody(frames, {
      type: FRAME.request,
      stream,
      head: [methodHead(method), header],
      body,
      clock,
      stallMs: STALL_MS,
      onSent: (bytes) => this.#count('sentBytes', bytes),
    })
    this.#sender?.run().catch((err: unknown) => this.#cancel(err))
  }

  #answered(payload: Buffer, isLast: boolean): void {
    const settle = this.#settle
    if (settle === null) throw new MalformedFrameError('A call was answered twice')
    const { header: packed, body } = splitHeader(payload)
    const header = decodeHeader(packed)
    this.#count('receivedBytes', payload.length)
    const { traffic, peer, clock } = this.#parts
    traffic.answered(peer, (clock.now() - this.#startedMs) / 1000)
    this.#settle = null
    this.#timer?.cancel()
    // The peer has seen enough of the request.
    if (isLast) this.#sender?.stop()
    this.#answer.push(body, isLast)
    if (isLast) this.#done()
    settle.resolve({ header, body: this.#answer })
  }

  /** Ended from here: the peer learns it. */
  #cancel(cause: unknown): void {
    if (this.#isDone) return
    const { stream, frames } = this.#parts
    frames.send({ type: FRAME.reset, stream })
    this.fail(cause)
  }

  #finish(error: Error): void {
    const settle = this.#settle
    if (settle === null) throw new MalformedFrameError('A call was refused after its answer')
    this.#settle = null
    this.#sender?.stop()
    this.#done()
    settle.reject(error)
  }

  #done(): void {
    if (this.#isDone) return
    this.#isDone = true
    this.#timer?.cancel()
    this.#signal?.removeEventListener('abort', this.#onAbort)
    this.#sender?.stop()
    this.#parts.onDone()
  }

  #count(counter: 'sentBytes' | 'receivedBytes', bytes: number): void {
    this.#parts.traffic.add(this.#parts.peer, counter, bytes)
  }

  #explain(what: string, cause: unknown): Error {
    if (cause instanceof PeerRefusedError || cause instanceof PeerUnreachableError) return cause
    const { peer, traffic } = this.#parts
    traffic.add(peer, 'failures')
    const why = cause instanceof Error ? cause.message : String(cause)
    return new PeerUnreachableError(peer, `${what}: ${why}`, { cause })
  }
}
