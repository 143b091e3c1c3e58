/**
 * One call on a connection of frames, at the side that answers.
 *
 * Owns: the body that arrives, the answer that leaves. Knows nothing of: identities, other calls.
 * Rule: if a body breaks off, its handler receives an error; if an answer breaks off, its caller does. The answer of a handler whose
 * caller has left is released unread.
 */
import type { Clock } from '../base/clock.ts'
import type { NodeId } from '../raft/types.ts'
import { decodeHeader, encodeHeader, HEADER_LENGTH_BYTES } from './frame.ts'
import { FrameBodyReader, type FrameBodySender } from './frame-body.ts'
import { decodeCount, encodeCount, encodeRefused, type RequestFrame } from './frame-payloads.ts'
import { sendWithBody } from './frame-sending.ts'
import type { FrameSocket } from './frame-socket.ts'
import { MalformedFrameError } from './msgpack-guard.ts'
import type { PeerTraffic } from './peer-traffic.ts'
import { type HandlerContext, runHandler } from './run-handler.ts'
import { type OutgoingAnswer, PeerRefusedError, PeerUnreachableError } from './transport.ts'
import { type Frame, FRAME } from './wire-frame.ts'

export interface ServedCallParts {
  readonly stream: number
  readonly from: NodeId
  readonly context: HandlerContext
  readonly frames: FrameSocket
  readonly clock: Clock
  readonly traffic: PeerTraffic
  /** Once: nothing of the call is under way any more. */
  readonly onDone: () => void
}

/** How long a caller may send nothing of a body that is read, or take nothing of an answer. ms */
const IDLE_MS = 120_000

export class ServedCall {
  readonly #parts: ServedCallParts
  readonly #body: FrameBodyReader
  #sender: FrameBodySender | null = null
  #isDone = false

  constructor(parts: ServedCallParts) {
    this.#parts = parts
    const { clock, frames, stream, from } = parts
    this.#body = new FrameBodyReader({
      clock,
      idleMs: IDLE_MS,
      giveCredit: (bytes) => frames.send({ type: FRAME.credit, stream, payload: [encodeCount(bytes)] }),
      pool: frames.pool,
      // The caller learns it from the answer, which still comes.
      cancel: () => {},
      onDone: () => {},
      blame: (cause) => new PeerUnreachableError(from, `The request of ${from} broke off`, { cause }),
    })
  }

  start({ header, body }: RequestFrame, isLast: boolean): void {
    const { traffic, from } = this.#parts
    traffic.add(from, 'receivedBytes', HEADER_LENGTH_BYTES + header.length + body.length)
    this.#body.push(body, isLast)
    this.#serve(header).catch((err: unknown) => this.#breakOff(err))
  }

  onFrame({ type, payload, isLast }: Frame): void {
    const { traffic, from } = this.#parts
    if (type === FRAME.credit) return this.#sender?.addCredit(decodeCount(payload))
    if (type === FRAME.reset) return this.end(new Error('The caller broke the call off'))
    if (type !== FRAME.data)
      throw new MalformedFrameError(`A frame of type ${type} does not belong to a call`)
    traffic.add(from, 'receivedBytes', payload.length)
    this.#body.push(payload, isLast)
  }

  /** Nothing more comes from the caller, and nothing reaches it. */
  end(cause: Error): void {
    this.#body.fail(cause)
    this.#finish()
  }

  async #serve(header: Buffer): Promise<void> {
    const { context, from } = this.#parts
    let answer: OutgoingAnswer
    try {
      answer = await runHandler(context, { from, header: decodeHeader(header), body: this.#body })
    } catch (err) {
      if (err instanceof PeerRefusedError) return this.#refuse(err.code, err.message)
      if (err instanceof MalformedFrameError) return this.#refuse('malformed_frame', err.message)
      throw err
    }
    if (this.#isDone) return release(answer.body)
    await this.#answer(answer)
  }

  async #answer({ header, body }: OutgoingAnswer): Promise<void> {
    const { frames, stream, clock } = this.#parts
    const packed = encodeHeader(header)
    this.#countSent(packed.length)
    this.#sender = sendWithBody(frames, {
      type: FRAME.answer,
      stream,
      head: [packed],
      body,
      clock,
      stallMs: IDLE_MS,
      onSent: (bytes) => this.#countSent(bytes),
    })
    if (this.#sender !== null) await this.#sender.run()
    this.#finish()
  }

  #refuse(code: string, message: string): void {
    if (this.#isDone) return
    const { frames, stream } = this.#parts
    frames.send({ type: FRAME.refused, stream, payload: [encodeRefused(code, message)] })
    this.#finish()
  }

  #breakOff(err: unknown): void {
    const { context, frames, stream } = this.#parts
    context.logger.warn({ err }, 'exchange with peer broke off')
    if (this.#isDone) return
    frames.send({ type: FRAME.reset, stream })
    this.#finish()
  }

  #finish(): void {
    if (this.#isDone) return
    this.#isDone = true
    this.#sender?.stop()
    // A handler that reads on must not take this for the end of the body.
    if (!this.#body.hasEnded) this.#body.fail(new Error('The call was answered'))
    this.#body.abandon()
    this.#parts.onDone()
  }

  #countSent(bytes: number): void {
    this.#parts.traffic.add(this.#parts.from, 'sentBytes', bytes)
  }
}

function release(body: OutgoingAnswer['body']): void {
  if (body === undefined || body instanceof Uint8Array) return
  Promise.resolve(body[Symbol.asyncIterator]().return?.()).catch(() => {})
}
