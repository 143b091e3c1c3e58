/**
 * One connection to a peer that carries frames: the hello, batches of Raft messages, and many calls at a time.
 *
 * Owns: the numbers of the calls, acknowledgement of batches, signs of life, the end. Knows nothing of: which connection is used.
 * Rule: a connection on which something is asked and nothing comes ends within `silentMs`, and everything that is asked on it fails
 * then. Nothing is asked twice.
 */
import { type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Clock, Timer } from '../base/clock.ts'
import type { NodeId } from '../raft/types.ts'
import { advised, SpeaksHttpError } from './frame-dial.ts'
import { FrameCall, type FrameCallParts } from './frame-call.ts'
import { decodeCount, decodeRefused, encodeHello } from './frame-payloads.ts'
import { FrameSocket, type FrameSocketEvents } from './frame-socket.ts'
import { MalformedFrameError } from './msgpack-guard.ts'
import type { PeerIdentity, PeerStatus } from './peer-identity.ts'
import type { PeerTraffic } from './peer-traffic.ts'
import { encodeStatus } from './status-frame.ts'
import { type CallRequest, type CallResponse, PeerRefusedError, PeerUnreachableError } from './transport.ts'
import type { TurnEnd } from './turn-end.ts'
import { type Frame, FRAME, type FrameParts, type FrameType, PREFACE } from './wire-frame.ts'

export interface FrameConnectionOptions {
  readonly socket: Socket
  readonly self: PeerIdentity
  readonly peerStatus: () => PeerStatus
  readonly peer: NodeId
  readonly turn: TurnEnd
  readonly clock: Clock
  readonly traffic: PeerTraffic
  readonly helloTimeoutMs: number
  readonly silentMs: number
  readonly bodyIdleMs: number
  /** Without anything to do for this long, it is closed. ms */
  readonly idleMs: number
  /** After so many calls or batches it asks nothing new. Count. */
  readonly numbersMax: number
  /** Nothing new may be asked: it is closed, or will be when everything asked is answered. */
  readonly onLeaving: () => void
  /** Once, after `onLeaving`. `isOrderly`: nothing was under way. */
  readonly onClosed: (isOrderly: boolean) => void
}

/** Calls of one connection whose answers have not ended. Count. */
const CALLS_MAX = 1024
/** Looks at the signs of life per `silentMs`. */
const LOOKS = 3

const WHILE_GREETING: readonly FrameType[] = [FRAME.welcome, FRAME.refused]
const WHILE_OPEN: readonly FrameType[] = [
  FRAME.refused,
  FRAME.ack,
  FRAME.answer,
  FRAME.data,
  FRAME.credit,
  FRAME.reset,
  FRAME.pong,
  FRAME.leave,
]

export class FrameConnection implements FrameSocketEvents {
  /** SHA-256 of the certificate that the peer presented; null: none. */
  readonly certificate: string | null
  readonly #options: FrameConnectionOptions
  readonly #frames: FrameSocket
  readonly #status: PeerStatus
  readonly #calls = new Map<number, FrameCall>()
  #state: 'greeting' | 'open' | 'leaving' | 'closed' = 'greeting'
  #greeted: { resolve(): void; reject(error: Error): void } | null = null
  #lastStream = 0
  #sentBatches = 0
  #acceptedBatches = 0
  #saysStatus = false
  #hasHeard = false
  #isLate = false
  #silentLooks = 0
  #idleLooks = 0
  #look: Timer | null = null

  constructor(options: FrameConnectionOptions) {
    this.#options = options
    options.socket.write(PREFACE)
    this.#frames = new FrameSocket({ socket: options.socket, turn: options.turn, events: this })
    this.#status = options.peerStatus()
    const { socket } = options
    const shown = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined
    this.certificate = shown?.fingerprint256 ?? null
  }

  get isOpen(): boolean {
    return this.#state === 'open'
  }

  /** Resolves when the peer has accepted this node. Rejects with PeerRefusedError, SpeaksHttpError or another reason. */
  async greet(): Promise<void> {
    const { self, peer, clock, helloTimeoutMs } = this.#options
    const hello = encodeHello(self, this.#status, peer)
    const timer = clock.after(helloTimeoutMs, () => {
      this.#isLate = true
      this.#frames.destroy(new Error(`No answer to the hello within ${helloTimeoutMs} ms`))
    })
    try {
      await new Promise<void>((resolve, reject) => {
        this.#greeted = { resolve, reject }
        this.#frames.send({ type: FRAME.hello, payload: [hello] })
      })
      this.#lookLater()
    } finally {
      timer.cancel()
      this.#greeted = null
    }
  }

  /** Resolves when the batch is in flight. */
  async postBatch(batch: Uint8Array): Promise<void> {
    if (this.#frames.isCongested) await new Promise<void>((resolve) => this.#frames.whenRoom(resolve))
    if (!this.isOpen) throw this.#gone('The connection closed before the batch was sent')
    this.#saysStatus = true
    this.#sentBatches++
    this.#frames.send({ type: FRAME.raft, payload: [Buffer.from(batch)] })
    if (this.#sentBatches === this.#options.numbersMax) this.retire()
  }

  async call(
    method: string,
    header: Uint8Array,
    request: CallRequest,
    timeoutMs: number,
  ): Promise<CallResponse> {
    const { clock, traffic, peer, bodyIdleMs, numbersMax } = this.#options
    if (this.#calls.size >= CALLS_MAX)
      throw new PeerUnreachableError(peer, `More than ${CALLS_MAX} calls to ${peer} are waiting`)
    if (!this.isOpen) throw this.#gone('The connection closed before the call was sent')
    const stream = ++this.#lastStream
    const parts: FrameCallParts = {
      stream,
      method,
      peer,
      frames: this.#frames,
      clock,
      traffic,
      bodyIdleMs,
      timeoutMs,
      onDone: () => {
        this.#calls.delete(stream)
        this.#endWhenDone()
      },
    }
    const call = new FrameCall(parts)
    this.#calls.set(stream, call)
    this.#saysStatus = true
    const answer = call.run(header, request)
    if (stream === numbersMax) this.retire()
    return answer
  }

  /** Nothing new is asked on it; it closes when everything is answered. */
  retire(): void {
    if (this.#state !== 'open') return
    this.#state = 'leaving'
    this.#options.onLeaving()
    this.#endWhenDone()
  }

  destroy(reason: Error): void {
    this.#frames.destroy(reason)
  }

  onHead(type: FrameType): void {
    const fitting = this.#state === 'greeting' ? WHILE_GREETING : WHILE_OPEN
    if (!fitting.includes(type)) throw new MalformedFrameError(`A frame of type ${type} does not fit here`)
  }

  onBytes(): void {
    this.#hasHeard = true
    if (this.#state !== 'greeting') this.#options.traffic.contact(this.#options.peer)
  }

  /** The claims of this turn. */
  leading(): FrameParts | null {
    if (!this.#saysStatus) return null
    this.#saysStatus = false
    const status = this.#options.peerStatus()
    if (!isSameProcess(status, this.#status)) {
      // Another connection says hello with the other claims.
      queueMicrotask(() => this.#frames.destroy(new Error('The claims of this node have changed')))
    }
    return { type: FRAME.status, payload: [encodeStatus(status)] }
  }

  onFrame(frame: Frame): void {
    const { type, stream, payload } = frame
    if (type === FRAME.welcome) return this.#open()
    if (type === FRAME.refused && stream === 0) return this.#frames.destroy(decodeRefused(payload))
    if (type === FRAME.ack) return this.#acknowledged(decodeCount(payload))
    if (type === FRAME.pong) return
    if (type === FRAME.leave) return this.retire()
    const call = this.#calls.get(stream)
    if (call !== undefined) call.onFrame(frame)
    // What was in flight when the call ended is dropped.
    else if (stream === 0 || stream > this.#lastStream)
      throw new MalformedFrameError(`Call ${stream} was never made`)
  }

  onClose(error: Error): void {
    const { onLeaving, onClosed } = this.#options
    const isOrderly = this.#state === 'leaving' && this.#calls.size === 0 && !this.#isBatchUnderWay
    const before = this.#state
    this.#state = 'closed'
    this.#look?.cancel()
    this.#greeted?.reject(this.#whyNotGreeted(error))
    // Whether a call took effect is unknown, also when the peer refused the connection after it.
    const broken = new Error(`The connection ended: ${error.message}`, { cause: error })
    for (const call of this.#calls.values()) call.fail(broken)
    if (before === 'open') onLeaving()
    onClosed(isOrderly)
  }

  get #isBatchUnderWay(): boolean {
    return this.#sentBatches !== this.#acceptedBatches
  }

  #open(): void {
    this.#state = 'open'
    this.#options.traffic.contact(this.#options.peer)
    this.#greeted?.resolve()
  }

  /** Over plain TCP an older node answers the preface with words of HTTP, or closes the connection. */
  #whyNotGreeted(error: Error): Error {
    const { socket, peer } = this.#options
    if (error instanceof PeerRefusedError) return error
    const isForeign = this.#hasHeard ? error instanceof MalformedFrameError : !this.#isLate
    if (socket instanceof TLSSocket || !isForeign) return advised(error)
    return new SpeaksHttpError(`Node ${peer} does not know frames`, { cause: error })
  }

  #acknowledged(count: number): void {
    if (count < this.#acceptedBatches || count > this.#sentBatches)
      throw new MalformedFrameError(`${count} batches cannot have been accepted`)
    this.#acceptedBatches = count
    this.#endWhenDone()
  }

  #endWhenDone(): void {
    if (this.#state === 'leaving' && this.#calls.size === 0 && !this.#isBatchUnderWay) this.#frames.end()
  }

  #lookLater(): void {
    const { clock, silentMs } = this.#options
    if (this.#state === 'closed') return
    this.#look = clock.after(silentMs / LOOKS, () => this.#lookNow(), true)
  }

  #lookNow(): void {
    const { silentMs, idleMs } = this.#options
    const isAsking = this.#calls.size > 0 || this.#isBatchUnderWay
    this.#silentLooks = this.#hasHeard || !isAsking ? 0 : this.#silentLooks + 1
    this.#idleLooks = isAsking ? 0 : this.#idleLooks + 1
    this.#hasHeard = false
    if (this.#silentLooks === 1) this.#frames.send({ type: FRAME.ping })
    if (this.#silentLooks >= LOOKS)
      return this.#frames.destroy(new Error(`Nothing came from the peer for ${silentMs} ms`))
    if ((this.#idleLooks * silentMs) / LOOKS >= idleMs) this.retire()
    this.#lookLater()
  }

  #gone(why: string): PeerUnreachableError {
    return new PeerUnreachableError(this.#options.peer, why)
  }
}

function isSameProcess(one: PeerStatus, other: PeerStatus): boolean {
  if (one.boot !== other.boot) return false
  const [before, otherBefore] = [one.before ?? [], other.before ?? []]
  return (
    before === otherBefore ||
    (before.length === otherBefore.length && before.every((boot, i) => boot === otherBefore[i]))
  )
}
