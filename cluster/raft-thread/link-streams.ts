/**
 * Bodies of calls between peers while they cross between threads: piece by piece, as fast as the reader takes them.
 *
 * Owns: the credit, the end of a stream on either side. Knows nothing of: calls, sockets. Rules: at most CREDIT_BYTES and one piece of a
 * stream are in flight; a source that breaks is an error for the reader, never a shorter body; a reader that leaves ends the source.
 */
import type { ByteStream } from '../transport/transport.ts'
import { type SerializedError, serializeError, deserializeError } from './link-errors.ts'

export type StreamMessage =
  /** Comes before the message that names the stream. */
  | { readonly kind: 'stream'; readonly stream: number }
  | { readonly kind: 'piece'; readonly stream: number; readonly bytes: Uint8Array }
  | { readonly kind: 'ended'; readonly stream: number }
  | { readonly kind: 'broken'; readonly stream: number; readonly error: SerializedError }
  /** The reader took so many bytes. */
  | { readonly kind: 'credit'; readonly stream: number; readonly bytes: number }
  | { readonly kind: 'left'; readonly stream: number }

/** Of one stream, in flight or waiting for their reader. Bytes */
export const CREDIT_BYTES = 256 * 1024
/** Taken bytes are reported in steps. Bytes */
const CREDIT_STEP = 64 * 1024

const DONE: IteratorResult<Uint8Array, undefined> = { done: true, value: undefined }

/** Sends one source. */
class Outgoing {
  readonly #stream: number
  readonly #source: AsyncIterator<Uint8Array>
  readonly #post: (message: StreamMessage) => void
  #credit = CREDIT_BYTES
  #isStopped = false
  #wake: () => void = () => {}

  constructor(stream: number, source: ByteStream, post: (message: StreamMessage) => void) {
    this.#stream = stream
    this.#source = source[Symbol.asyncIterator]()
    this.#post = post
  }

  addCredit(bytes: number): void {
    this.#credit += bytes
    this.#wake()
  }

  stop(): void {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#wake()
    // Not awaited: a source that is inside `next` answers only when that has settled.
    Promise.resolve(this.#source.return?.()).catch(() => {})
  }

  async run(): Promise<void> {
    const stream = this.#stream
    try {
      while (!this.#isStopped) {
        const { done, value } = await this.#source.next()
        if (this.#isStopped) return
        if (done === true) break
        this.#post({ kind: 'piece', stream, bytes: value })
        this.#credit -= value.length
        while (this.#credit <= 0 && !this.#isStopped) await this.#room()
      }
      if (!this.#isStopped) this.#post({ kind: 'ended', stream })
    } catch (error) {
      if (!this.#isStopped) this.#post({ kind: 'broken', stream, error: serializeError(error) })
    }
    this.#isStopped = true
  }

  #room(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve))
  }
}

interface Waiter {
  readonly resolve: (result: IteratorResult<Uint8Array, undefined>) => void
  readonly reject: (error: Error) => void
}

/** Reads one stream of the other thread. */
class Incoming implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #report: (bytes: number) => void
  readonly #leave: () => void
  readonly #pieces: Uint8Array[] = []
  isReceived = false
  #taken = 0
  #end: { readonly error: Error | null } | null = null
  #waiter: Waiter | null = null

  constructor(report: (bytes: number) => void, leave: () => void) {
    this.#report = report
    this.#leave = leave
  }

  push(bytes: Uint8Array): void {
    if (this.#end !== null) return
    const waiter = this.#takeWaiter()
    if (waiter === null) return void this.#pieces.push(bytes)
    this.#took(bytes)
    waiter.resolve({ done: false, value: bytes })
  }

  end(error: Error | null): void {
    if (this.#end !== null) return
    this.#end = { error }
    const waiter = this.#takeWaiter()
    if (error === null) waiter?.resolve(DONE)
    else waiter?.reject(error)
  }

  get hasEnded(): boolean {
    return this.#end !== null
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const piece = this.#pieces.shift()
    if (piece !== undefined) {
      this.#took(piece)
      return Promise.resolve({ done: false, value: piece })
    }
    const end = this.#end
    if (end === null) {
      return new Promise((resolve, reject) => (this.#waiter = { resolve, reject }))
    }
    this.#end = { error: null }
    return end.error === null ? Promise.resolve(DONE) : Promise.reject(end.error)
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    const isOpen = this.#end === null
    this.#end = { error: null }
    this.#pieces.length = 0
    this.#takeWaiter()?.resolve(DONE)
    if (isOpen) this.#leave()
    return Promise.resolve(DONE)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #took({ length }: Uint8Array): void {
    this.#taken += length
    if (this.#taken < CREDIT_STEP || this.#end !== null) return
    this.#report(this.#taken)
    this.#taken = 0
  }

  #takeWaiter(): Waiter | null {
    const waiter = this.#waiter
    this.#waiter = null
    return waiter
  }
}

export class LinkStreams {
  readonly #post: (message: StreamMessage) => void
  readonly #outgoing = new Map<number, Outgoing>()
  readonly #incoming = new Map<number, Incoming>()
  #lastId = 0
  #closed: Error | null = null

  constructor(post: (message: StreamMessage) => void) {
    this.#post = post
  }

  /** Starts to send; the other thread reads it under the returned number. */
  send(source: ByteStream): number {
    this.#lastId += 1
    const stream = this.#lastId
    this.#post({ kind: 'stream', stream })
    const outgoing = new Outgoing(stream, source, this.#post)
    if (this.#closed !== null) outgoing.stop()
    this.#outgoing.set(stream, outgoing)
    void outgoing.run().finally(() => this.#outgoing.delete(stream))
    return stream
  }

  /** Once for each stream. */
  receive(stream: number): ByteStream {
    const found = this.#incoming.get(stream)
    if (found === undefined) throw this.#closed ?? new Error(`Stream ${stream} is not under way`)
    found.isReceived = true
    if (found.hasEnded) this.#incoming.delete(stream)
    return found
  }

  onMessage(message: StreamMessage): void {
    const { stream } = message
    switch (message.kind) {
      case 'stream':
        return void this.#incoming.set(stream, this.#makeIncoming(stream))
      case 'piece':
        return this.#incoming.get(stream)?.push(message.bytes)
      case 'ended':
        return this.#onEnd(stream, null)
      case 'broken':
        return this.#onEnd(stream, deserializeError(message.error))
      case 'credit':
        return this.#outgoing.get(stream)?.addCredit(message.bytes)
      case 'left':
        return this.#outgoing.get(stream)?.stop()
    }
  }

  /** The other thread is gone. */
  close(error: Error): void {
    this.#closed = error
    for (const outgoing of this.#outgoing.values()) outgoing.stop()
    for (const incoming of this.#incoming.values()) incoming.end(error)
  }

  #makeIncoming(stream: number): Incoming {
    return new Incoming(
      (bytes) => this.#post({ kind: 'credit', stream, bytes }),
      () => {
        this.#incoming.delete(stream)
        this.#post({ kind: 'left', stream })
      },
    )
  }

  #onEnd(stream: number, error: Error | null): void {
    const incoming = this.#incoming.get(stream)
    incoming?.end(error)
    // Kept until somebody receives it: the message that names it may still be waited for.
    if (incoming?.isReceived === true) this.#incoming.delete(stream)
  }
}
