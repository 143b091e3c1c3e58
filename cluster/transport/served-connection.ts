/**
 * One connection of frames, at the side that answers.
 *
 * Owns: the hello and what it proved, batches, the calls that are being answered. Knows nothing of: other connections.
 * Rule: the identity is checked in full once, and what can have changed of it with every batch and call. When the answer of the
 * gate changes, the connection ends. Whatever does not follow the format ends it too.
 */
import type { Socket } from 'node:net'
import type { Timer } from '../base/clock.ts'
import type { NodeId } from '../raft/types.ts'
import { decodeBatch } from './frame.ts'
import { decodeHello, decodeRequest, encodeCount, encodeRefused } from './frame-payloads.ts'
import type { FrameServerOptions } from './frame-server.ts'
import { FrameSocket, type FrameSocketEvents } from './frame-socket.ts'
import { MalformedFrameError } from './msgpack-guard.ts'
import { checkAgain, checkIdentity, type PeerClaims, type Refusal, refusal } from './peer-identity.ts'
import { ServedCall } from './served-call.ts'
import { decodeStatus } from './status-frame.ts'
import { type Frame, FRAME, type FrameType, PREFACE } from './wire-frame.ts'

export interface ServedConnectionOptions extends FrameServerOptions {
  readonly socket: Socket
  /** Whether the connection proves the identity of this node. */
  readonly certifies: (nodeId: NodeId) => boolean
  /** A call ended. */
  readonly onIdle: () => void
  readonly onClosed: () => void
}

/** From the first byte to the end of the hello. ms */
const HELLO_TIMEOUT_MS = 10_000
/** Without any traffic. Longer than any client keeps a connection without any. ms */
const IDLE_TIMEOUT_MS = 120_000
/**
 * Batches are acknowledged together: the sender needs to know that this node lives, and no more. Shorter than the time between two
 * looks of the sender at the signs of life; a heartbeat each would cost an acknowledgement. ms
 */
const ACK_DELAY_MS = 500
/** Calls of one connection that are being answered; a client makes no more. Count. */
const CALLS_MAX = 1024

const AFTER_HELLO: readonly FrameType[] = [
  FRAME.status,
  FRAME.raft,
  FRAME.request,
  FRAME.data,
  FRAME.credit,
  FRAME.reset,
  FRAME.ping,
]

export class ServedConnection implements FrameSocketEvents {
  readonly #options: ServedConnectionOptions
  readonly #frames: FrameSocket
  readonly #helloTimer: Timer
  readonly #calls = new Map<number, ServedCall>()
  #claims: PeerClaims | null = null
  #lastStream = 0
  #batches = 0
  #ackTimer: Timer | null = null

  constructor(options: ServedConnectionOptions) {
    this.#options = options
    const { socket, turn, clock } = options
    this.#frames = new FrameSocket({ socket, turn, events: this, preface: PREFACE })
    this.#helloTimer = clock.after(HELLO_TIMEOUT_MS, () =>
      this.#frames.destroy(new Error(`No hello within ${HELLO_TIMEOUT_MS} ms`)),
    )
    socket.setTimeout(IDLE_TIMEOUT_MS, () =>
      this.#frames.destroy(new Error(`No traffic within ${IDLE_TIMEOUT_MS} ms`)),
    )
  }

  /** Calls that are being answered. */
  get calls(): number {
    return this.#calls.size
  }

  /** Asks the other side to make no more calls here. */
  leave(): void {
    if (this.#claims !== null) this.#frames.send({ type: FRAME.leave })
  }

  onHead(type: FrameType): void {
    const isFitting = this.#claims === null ? type === FRAME.hello : AFTER_HELLO.includes(type)
    if (!isFitting) throw new MalformedFrameError(`A frame of type ${type} does not fit here`)
  }

  onBytes(): void {
    const { traffic, onContact } = this.#options
    if (this.#claims === null) return
    traffic.contact(this.#claims.nodeId)
    onContact(this.#claims.nodeId)
  }

  onFrame(frame: Frame): void {
    const { type, stream, payload } = frame
    if (this.#claims === null) return this.#greet(payload)
    if (type === FRAME.status) return this.#update({ ...this.#claims, ...decodeStatus(payload) })
    if (type === FRAME.raft) return this.#takeBatch(this.#claims, payload)
    if (type === FRAME.request) return this.#takeCall(this.#claims, frame)
    if (type === FRAME.ping) return this.#frames.send({ type: FRAME.pong })
    const call = this.#calls.get(stream)
    if (call !== undefined) call.onFrame(frame)
    // What was in flight when the call ended is dropped.
    else if (stream === 0 || stream > this.#lastStream)
      throw new MalformedFrameError(`Call ${stream} was never made`)
  }

  onUnreadable(error: Error): void {
    const { logger, socket } = this.#options
    const peer = this.#claims?.nodeId ?? null
    logger.warn({ peer, remote: socket.remoteAddress, err: error }, 'unreadable peer connection ended')
    this.#end('malformed_frame', error.message)
  }

  onClose(error: Error): void {
    this.#helloTimer.cancel()
    this.#ackTimer?.cancel()
    for (const call of this.#calls.values()) call.end(error)
    this.#options.onClosed()
  }

  #greet(payload: Buffer): void {
    const { rules, certifies, traffic, onContact } = this.#options
    const claims = this.#isStopping() ?? checkIdentity(decodeHello(payload), { ...rules, certifies })
    if ('status' in claims) return this.#refuseAll(claims)
    this.#helloTimer.cancel()
    this.#claims = claims
    traffic.contact(claims.nodeId)
    onContact(claims.nodeId)
    this.#frames.send({ type: FRAME.welcome })
  }

  #update(claims: PeerClaims): void {
    const objection = checkAgain(claims, this.#options.rules)
    if (objection !== null) return this.#refuseAll(objection)
    // The clock was read for this turn; it says nothing about a later one.
    this.#claims = { ...claims, clock: null }
  }

  #takeBatch(claims: PeerClaims, payload: Buffer): void {
    const { rules, traffic, clock, onBatch } = this.#options
    const objection = this.#isStopping() ?? checkAgain(claims, rules)
    if (objection !== null) return this.#refuseAll(objection)
    traffic.add(claims.nodeId, 'receivedBytes', payload.length)
    // Entries are kept: they must not hold more memory than their own.
    const bytes = payload.length < payload.buffer.byteLength / 2 ? Buffer.from(payload) : payload
    const messages = decodeBatch(bytes, { from: claims.nodeId, to: rules.self.nodeId })
    traffic.add(claims.nodeId, 'receivedMessages', messages.length)
    this.#batches++
    this.#ackTimer ??= clock.after(ACK_DELAY_MS, () => this.#acknowledge(), true)
    // As a separate microtask: an error of the driver is a bug of this node and must stop it, not become a refusal.
    queueMicrotask(() => onBatch(messages))
  }

  #acknowledge(): void {
    this.#ackTimer = null
    this.#frames.send({ type: FRAME.ack, payload: [encodeCount(this.#batches)] })
  }

  #takeCall(claims: PeerClaims, { stream, isLast, payload }: Frame): void {
    const { rules, handlerOf, logger, traffic, clock } = this.#options
    if (stream <= this.#lastStream) throw new MalformedFrameError(`Call ${stream} was made before`)
    if (this.#calls.size >= CALLS_MAX)
      throw new MalformedFrameError(`More than ${CALLS_MAX} calls are made at a time`)
    this.#lastStream = stream
    const request = decodeRequest(payload)
    const objection = this.#isStopping() ?? checkAgain(claims, rules)
    if (objection !== null) {
      const { code, message } = objection
      this.#frames.send({ type: FRAME.refused, stream, payload: [encodeRefused(code, message)] })
      return code === 'shutting_down' ? this.#report(objection) : this.#refuseAll(objection)
    }
    const { method } = request
    const call = new ServedCall({
      stream,
      from: claims.nodeId,
      context: { self: rules.self.nodeId, method, handler: handlerOf(method), logger },
      frames: this.#frames,
      clock,
      traffic,
      onDone: () => {
        this.#calls.delete(stream)
        this.#options.onIdle()
      },
    })
    this.#calls.set(stream, call)
    call.start(request, isLast)
  }

  #isStopping(): Refusal | null {
    const { isStopping, rules } = this.#options
    return isStopping() ? refusal('shutting_down', `Node ${rules.self.nodeId} is stopping`) : null
  }

  #refuseAll(objection: Refusal): void {
    this.#report(objection)
    this.#end(objection.code, objection.message)
  }

  #report({ code, message }: Refusal): void {
    const { logger, socket } = this.#options
    logger.warn({ code, reason: message, remote: socket.remoteAddress }, 'peer request refused')
  }

  #end(code: string, message: string): void {
    this.#frames.send({ type: FRAME.refused, payload: [encodeRefused(code, message)] })
    this.#frames.end()
  }
}
