/**
 * One socket that carries frames: what one turn sends is written at once, what arrives is cut into frames.
 *
 * Owns: the socket, the bytes that wait for it, and that its end is reported once. Knows nothing of: calls, identities.
 * Rule: who sends bodies asks `isCongested` first and waits with `whenRoom`; so a slow peer holds a bounded amount of memory, and the
 * bodies of one socket take turns.
 */
import type { Socket } from 'node:net'
import { CreditPool } from './frame-body.ts'
import { MalformedFrameError } from './msgpack-guard.ts'
import type { TurnEnd } from './turn-end.ts'
import { asBuffer, encodeFrame, type FrameParts, FrameReader, type FrameSink } from './wire-frame.ts'

export interface FrameSocketEvents extends FrameSink {
  /** Bytes that go before everything else of this turn; null: none. */
  leading?(): FrameParts | null
  /** Anything has arrived. */
  onBytes(): void
  /** What arrived cannot be read; called before `onClose`. Without it the socket is destroyed. */
  onUnreadable?(error: Error): void
  /** Once. */
  onClose(error: Error): void
}

/** Bodies wait while more than this has not left. Bytes. */
const UNSENT_BYTES_MAX = 1024 * 1024
/** Pieces below this size are joined for a write. Bytes. */
const JOINED_PIECE_MAX = 16 * 1024
/** How long the other side may take to read the last frames and close. ms */
const LINGER_MS = 1000

const NO_BYTES = new Uint8Array(0)

export interface FrameSocketParts {
  readonly socket: Socket
  readonly turn: TurnEnd
  readonly events: FrameSocketEvents
  /** What the other side sends before its first frame; by default nothing. */
  readonly preface?: Uint8Array
}

export class FrameSocket {
  readonly socket: Socket
  /** For the bodies that arrive here. */
  readonly pool = new CreditPool()
  readonly #turn: TurnEnd
  readonly #events: FrameSocketEvents
  readonly #reader: FrameReader
  readonly #waiting: (() => void)[] = []
  /** What must arrive before the first frame. */
  #preface: Uint8Array
  #unsent: Buffer[] = []
  #unsentBytes = 0
  #failure: Error | null = null
  #isClosed = false
  #isEnding = false

  constructor({ socket, turn, events, preface = NO_BYTES }: FrameSocketParts) {
    this.socket = socket
    this.#turn = turn
    this.#events = events
    this.#preface = preface
    this.#reader = new FrameReader(events)
    socket.setNoDelay(true)
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('drain', () => this.#letIn())
    socket.on('error', (error) => (this.#failure ??= error))
    // The other side sends nothing any more, so no answer can come; what it waits for it reads before it closes.
    socket.on('end', () => this.destroy(new Error('The other side closed the connection')))
    socket.once('close', () => this.#close())
  }

  get isClosed(): boolean {
    return this.#isClosed || this.#failure !== null
  }

  get isCongested(): boolean {
    return this.#unsentBytes + this.socket.writableLength > UNSENT_BYTES_MAX
  }

  send(parts: FrameParts): void {
    if (this.isClosed || this.#isEnding) return
    if (this.#unsent.length === 0) this.#turn.write(() => this.#flush())
    for (const piece of encodeFrame(parts)) {
      this.#unsent.push(piece)
      this.#unsentBytes += piece.length
    }
  }

  /** Calls back once when bodies may be sent, or the socket is closed; first come, first served. */
  whenRoom(callback: () => void): void {
    if (this.isClosed) queueMicrotask(callback)
    else this.#waiting.push(callback)
  }

  /** Sends what waits, then closes; what still arrives is discarded, or a reset could overtake the last frames. */
  end(): void {
    if (this.isClosed || this.#isEnding) return
    this.#flush()
    this.#isEnding = true
    this.socket.end()
    this.socket.setTimeout(LINGER_MS, () => this.socket.destroy())
  }

  destroy(error: Error): void {
    if (this.#isClosed) return
    this.#failure ??= error
    this.socket.destroy()
  }

  #read(chunk: Buffer): void {
    if (this.isClosed || this.#isEnding) return
    this.#events.onBytes()
    try {
      this.#reader.push(this.#withoutPreface(chunk))
    } catch (err) {
      const error = err instanceof Error ? err : new Error(String(err))
      this.#events.onUnreadable?.(error)
      if (!this.#isEnding) this.destroy(error)
    }
  }

  #withoutPreface(chunk: Buffer): Buffer {
    if (this.#preface.length === 0) return chunk
    const length = Math.min(this.#preface.length, chunk.length)
    if (chunk.compare(this.#preface, 0, length, 0, length) !== 0)
      throw new MalformedFrameError('The connection does not begin with the preface of frames')
    this.#preface = this.#preface.subarray(length)
    return chunk.subarray(length)
  }

  #flush(): void {
    if (this.#unsent.length === 0 || this.#isClosed) return
    const leading = this.#events.leading?.() ?? null
    const pieces = leading === null ? this.#unsent : [...encodeFrame(leading), ...this.#unsent]
    this.#unsent = []
    this.#unsentBytes = 0
    write(this.socket, pieces)
    this.#letIn()
  }

  #letIn(): void {
    while (this.#waiting.length > 0 && (this.isClosed || !this.isCongested)) this.#waiting.shift()?.()
  }

  #close(): void {
    this.#isClosed = true
    this.#unsent = []
    this.#unsentBytes = 0
    this.#letIn()
    this.#events.onClose(this.#failure ?? new Error('The connection was closed'))
  }
}

/** Small neighbours are joined, because a write costs more than their copy; large pieces are not copied. */
function write(socket: Socket, pieces: readonly Buffer[]): void {
  const joined: Buffer[] = []
  let small: Buffer[] = []
  const join = (): void => {
    if (small.length > 0)
      joined.push(small.length === 1 ? asBuffer(small[0] as Buffer) : Buffer.concat(small))
    small = []
  }
  for (const piece of pieces) {
    if (piece.length <= JOINED_PIECE_MAX) {
      small.push(piece)
      continue
    }
    join()
    joined.push(piece)
  }
  join()
  if (joined.length > 1) socket.cork()
  for (const piece of joined) socket.write(piece)
  if (joined.length > 1) socket.uncork()
}
