/**
 * Bodies over frames: what arrives of one, read once, and the sending of another.
 *
 * Owns: credit, in both directions. Knows nothing of: calls, sockets; it is given what sends a frame.
 * Rule: no more bytes are sent than the receiver has given credit for, and credit is given for what was read. A premature end is an
 * error for the reader, never a shorter body.
 */
import type { Clock, Timer } from '../base/clock.ts'
import { MalformedFrameError } from './msgpack-guard.ts'
import type { ByteStream } from './transport.ts'
import { FIRST_CREDIT, PIECE_BYTES_MAX } from './wire-frame.ts'

/** What a body gets beyond its first credit once its reader reads. Bytes. */
const EXTRA_CREDIT = 896 * 1024
/** All extra credit of one connection. Bytes. */
const POOL_BYTES = 32 * 1024 * 1024
/** Credit is given in steps of at least this. Bytes. */
const CREDIT_STEP = 64 * 1024
/** More than any receiver gives. Bytes. */
const CREDIT_MAX = 64 * 1024 * 1024

/** Extra credit for the bodies of one connection: however many are not read, what they hold is bounded. */
export class CreditPool {
  #left = POOL_BYTES

  take(bytes: number): boolean {
    if (bytes > this.#left) return false
    this.#left -= bytes
    return true
  }

  giveBack(bytes: number): void {
    this.#left += bytes
  }
}

export interface FrameBodyReaderOptions {
  readonly clock: Clock
  /** The longest wait for the next bytes. ms */
  readonly idleMs: number
  /** What may be under way beyond the first credit, shared with the other bodies of the connection. */
  readonly pool: CreditPool
  readonly giveCredit: (bytes: number) => void
  /** The reader leaves before the end, or waited too long. */
  readonly cancel: (cause: Error) => void
  /** Called once, when nothing of the body is held any more. */
  readonly onDone: () => void
  /** The error for the reader. */
  readonly blame: (cause: unknown) => Error
}

type Waiter = {
  resolve(result: IteratorResult<Uint8Array, undefined>): void
  reject(error: Error): void
  readonly timer: Timer
}

const DONE = { done: true, value: undefined } as const

export class FrameBodyReader implements ByteStream, AsyncIterableIterator<Uint8Array, undefined> {
  readonly #options: FrameBodyReaderOptions
  readonly #pieces: Uint8Array[] = []
  #waiter: Waiter | null = null
  /** What the sender may still send. */
  #credit = FIRST_CREDIT
  /** What was read and no credit was given for. */
  #read = 0
  #isWide = false
  #hasEnded = false
  #failure: Error | null = null
  #isDone = false

  constructor(options: FrameBodyReaderOptions) {
    this.#options = options
  }

  /** Whether all of it has arrived. */
  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** Throws MalformedFrameError when the sender ignores its credit. */
  push(bytes: Uint8Array, isLast: boolean): void {
    if (this.#hasEnded || this.#isDone) return
    this.#credit -= bytes.length
    if (this.#credit < 0) throw new MalformedFrameError('A body has more bytes than were asked for')
    if (isLast) this.#hasEnded = true
    if (bytes.length > 0) this.#offer(bytes)
    if (isLast) this.#finish()
  }

  /** The rest will not come. */
  fail(cause: unknown): void {
    if (this.#hasEnded || this.#isDone) return
    this.#failure = this.#options.blame(cause)
    const waiter = this.#takeWaiter()
    if (waiter === null) return
    this.#close()
    waiter.reject(this.#failure)
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const piece = this.#pieces.shift()
    if (piece !== undefined) {
      this.#wasRead(piece.length)
      if (this.#pieces.length === 0 && this.#hasEnded) this.#close()
      return { done: false, value: piece }
    }
    if (this.#failure !== null) {
      this.#close()
      throw this.#failure
    }
    if (!this.#isDone && !this.#hasEnded) return this.#wait()
    this.#close()
    return DONE
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.abandon()
    return DONE
  }

  /** It is not read any further. */
  abandon(): void {
    if (this.#isDone) return
    this.#takeWaiter()?.resolve(DONE)
    if (!this.#hasEnded && this.#failure === null) this.#options.cancel(new Error('The reader left'))
    this.#close()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #offer(bytes: Uint8Array): void {
    const waiter = this.#takeWaiter()
    if (waiter === null) {
      this.#pieces.push(bytes)
      return
    }
    this.#wasRead(bytes.length)
    waiter.resolve({ done: false, value: bytes })
  }

  #finish(): void {
    const waiter = this.#takeWaiter()
    if (this.#pieces.length === 0) this.#close()
    waiter?.resolve(DONE)
  }

  #wasRead(bytes: number): void {
    if (this.#hasEnded) return
    this.#read += bytes
    if (this.#read < CREDIT_STEP) return
    const isWidened = !this.#isWide && this.#options.pool.take(EXTRA_CREDIT)
    if (isWidened) this.#isWide = true
    const credit = this.#read + (isWidened ? EXTRA_CREDIT : 0)
    this.#read = 0
    this.#credit += credit
    this.#options.giveCredit(credit)
  }

  #wait(): Promise<IteratorResult<Uint8Array, undefined>> {
    const { clock, idleMs } = this.#options
    return new Promise((resolve, reject) => {
      const timer = clock.after(idleMs, () => {
        const cause = new Error(`Nothing came for ${idleMs} ms`)
        this.#options.cancel(cause)
        this.fail(cause)
      })
      this.#waiter = { resolve, reject, timer }
    })
  }

  #takeWaiter(): Waiter | null {
    const waiter = this.#waiter
    this.#waiter = null
    waiter?.timer.cancel()
    return waiter
  }

  #close(): void {
    if (this.#isDone) return
    this.#isDone = true
    this.#pieces.length = 0
    if (this.#isWide) this.#options.pool.giveBack(EXTRA_CREDIT)
    this.#options.onDone()
  }
}

export interface FrameBodySenderOptions {
  readonly clock: Clock
  /** The longest wait for credit or room. ms */
  readonly stallMs: number
  readonly credit: number
  readonly send: (piece: Uint8Array, isLast: boolean) => void
  readonly isCongested: () => boolean
  readonly whenRoom: (callback: () => void) => void
}

/** Sends the rest of a body. `stop` ends it on every path, and the source with it. */
export class FrameBodySender {
  readonly #options: FrameBodySenderOptions
  readonly #source: Iterator<Uint8Array> | AsyncIterator<Uint8Array>
  #credit: number
  #isStopped = false
  #wake: () => void = () => {}

  constructor(source: Iterable<Uint8Array> | AsyncIterable<Uint8Array>, options: FrameBodySenderOptions) {
    this.#options = options
    this.#credit = options.credit
    this.#source = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]()
  }

  /** Throws MalformedFrameError for a credit that no receiver gives. */
  addCredit(bytes: number): void {
    this.#credit += bytes
    if (this.#credit > CREDIT_MAX) throw new MalformedFrameError('Too much credit was given for a body')
    this.#wake()
  }

  stop(): void {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#wake()
    // Not awaited: a source that is inside `next` answers only when that has settled.
    Promise.resolve(this.#source.return?.()).catch(() => {})
  }

  /** Resolves when everything was sent, or `stop` was called. Rejects with the error of the source, or when the receiver stalls. */
  async run(): Promise<void> {
    try {
      while (!this.#isStopped) {
        // A source that breaks within its `next` has ended itself.
        const { done, value } = await this.#source.next()
        if (this.#isStopped) return
        if (done === true) {
          this.#isStopped = true
          return this.#options.send(new Uint8Array(0), true)
        }
        await this.#sendAll(value)
      }
    } finally {
      this.stop()
    }
  }

  async #sendAll(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      while (this.#credit <= 0 || this.#options.isCongested()) {
        await this.#room()
        if (this.#isStopped) return
      }
      const end = Math.min(bytes.length, at + PIECE_BYTES_MAX, at + this.#credit)
      this.#credit -= end - at
      this.#options.send(bytes.subarray(at, end), false)
      at = end
    }
  }

  #room(): Promise<void> {
    const { clock, stallMs, whenRoom } = this.#options
    return new Promise((resolve, reject) => {
      const timer = clock.after(stallMs, () =>
        reject(new Error(`The receiver took nothing for ${stallMs} ms`)),
      )
      this.#wake = () => {
        timer.cancel()
        resolve()
      }
      if (this.#credit > 0) whenRoom(() => this.#wake())
    })
  }
}
