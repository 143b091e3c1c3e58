/**
 * Calls between the two threads of the halves: an answer or an error for each, and streams beside them.
 *
 * Owns: which calls are under way, and that the messages of one turn leave as one. Knows nothing of: what is called, how messages
 * travel. Rules: messages arrive in the order in which they were posted; a call ends exactly once, with its answer, its error or the
 * end of the link; nothing waits for room: too many calls are refused.
 */
import { Condition } from '../base/types.ts'
import type { ByteStream } from '../transport/transport.ts'
import { type Parcel, parcelOf } from './link-bytes.ts'
import { type SerializedError, serializeError, deserializeError } from './link-errors.ts'
import { LinkStreams, type StreamMessage } from './link-streams.ts'

/** By name: what goes there and what comes back. */
export type CallsOf<C> = { readonly [K in keyof C]: { readonly input: unknown; readonly output: unknown } }

export type HandlersOf<C extends CallsOf<C>> = {
  readonly [K in keyof C]: (
    input: C[K]['input'],
    /** Aborts when the caller cancels; undefined: it never does. */
    signal?: AbortSignal,
  ) => Promise<C[K]['output']> | C[K]['output']
}

type CallMessage =
  | {
      readonly kind: 'call'
      readonly id: number
      readonly method: string
      readonly input: unknown
      readonly isCancellable: boolean
    }
  | { readonly kind: 'answer'; readonly id: number; readonly output: unknown }
  | { readonly kind: 'refusal'; readonly id: number; readonly error: SerializedError }
  | { readonly kind: 'cancel'; readonly id: number }

export type LinkMessage = CallMessage | StreamMessage

export interface LinkParts {
  /** Sends the messages of a turn, an array of LinkMessage, to the other thread. */
  readonly post: (parcel: Parcel) => void
  /** Runs the callback once, at the end of this turn. */
  readonly atTurnEnd: (callback: () => void) => void
}

type Handler = (input: unknown, signal?: AbortSignal) => unknown

interface Pending {
  readonly resolve: (output: unknown) => void
  readonly reject: (error: Error) => void
}

/** Calls of this side under way. Count; more is refused with `slow_down`. */
const CALLS_MAX = 32_768

/** `Theirs`: what the other side answers. */
export class Link<Theirs extends CallsOf<Theirs>> {
  readonly #parts: LinkParts
  readonly #pending = new Map<number, Pending>()
  /** Calls of the other side that it may cancel. */
  readonly #cancellable = new Map<number, AbortController>()
  readonly #streams: LinkStreams
  #handlers: ReadonlyMap<string, Handler> = new Map()
  #outbox: LinkMessage[] = []
  #lastId = 0
  #turn = 0
  #closed: Error | null = null

  constructor(parts: LinkParts) {
    this.#parts = parts
    this.#streams = new LinkStreams((message) => this.#post(message))
  }

  /** Rises when messages leave: what is posted at one value arrives together. */
  get turn(): number {
    return this.#turn
  }

  get isClosed(): boolean {
    return this.#closed !== null
  }

  /** Before the first message arrives. */
  serve<Mine extends CallsOf<Mine>>(handlers: HandlersOf<Mine>): void {
    this.#handlers = new Map(Object.entries<Handler>({ ...handlers }))
  }

  /** Rejects with the error of the other side. `signal`: the call is cancelled there, and ends as it ends there. */
  call<K extends keyof Theirs & string>(
    method: K,
    input: Theirs[K]['input'],
    signal?: AbortSignal,
  ): Promise<Theirs[K]['output']> {
    if (this.#closed !== null) return Promise.reject(this.#closed)
    if (this.#pending.size >= CALLS_MAX)
      return Promise.reject(
        new Condition('slow_down', 'Too many calls wait for the other thread of this node'),
      )
    this.#lastId += 1
    const id = this.#lastId
    const answer = new Promise<Theirs[K]['output']>((resolve, reject) => {
      this.#pending.set(id, { resolve, reject })
    })
    this.#post({ kind: 'call', id, method, input, isCancellable: signal !== undefined })
    if (signal === undefined) return answer
    const cancel = (): void => this.#post({ kind: 'cancel', id })
    if (signal.aborted) cancel()
    else signal.addEventListener('abort', cancel, { once: true })
    return answer.finally(() => signal.removeEventListener('abort', cancel))
  }

  sendStream(source: ByteStream): number {
    return this.#streams.send(source)
  }

  receiveStream(stream: number): ByteStream {
    return this.#streams.receive(stream)
  }

  /** An array of messages from the other thread. */
  receive(messages: readonly LinkMessage[]): void {
    for (const message of messages) this.#receiveOne(message)
  }

  /** The other thread is gone, or will be: nothing more is sent, and everything under way ends with `error`. */
  close(error: Error): void {
    if (this.#closed !== null) return
    this.#closed = error
    this.#outbox = []
    for (const { reject } of this.#pending.values()) reject(error)
    this.#pending.clear()
    for (const controller of this.#cancellable.values()) controller.abort(error)
    this.#cancellable.clear()
    this.#streams.close(error)
  }

  #receiveOne(message: LinkMessage): void {
    switch (message.kind) {
      case 'call':
        return this.#serve(message)
      case 'answer':
        this.#pending.get(message.id)?.resolve(message.output)
        return void this.#pending.delete(message.id)
      case 'refusal':
        this.#pending.get(message.id)?.reject(deserializeError(message.error))
        return void this.#pending.delete(message.id)
      case 'cancel':
        return this.#cancellable.get(message.id)?.abort()
      default:
        return this.#streams.onMessage(message)
    }
  }

  #serve({ id, method, input, isCancellable }: Extract<LinkMessage, { kind: 'call' }>): void {
    const handler = this.#handlers.get(method)
    const controller = isCancellable ? new AbortController() : null
    if (controller !== null) this.#cancellable.set(id, controller)
    const end = (message: LinkMessage): void => {
      this.#cancellable.delete(id)
      this.#post(message)
    }
    const answer = (output: unknown): void => end({ kind: 'answer', id, output })
    const refuse = (error: unknown): void => end({ kind: 'refusal', id, error: serializeError(error) })
    try {
      if (handler === undefined) throw new Error(`The other thread does not answer '${method}'`)
      const output = handler(input, controller?.signal)
      if (output instanceof Promise) output.then((settled: unknown) => answer(settled), refuse)
      else answer(output)
    } catch (error) {
      refuse(error)
    }
  }

  #post(message: LinkMessage): void {
    if (this.#closed !== null) return
    this.#outbox.push(message)
    if (this.#outbox.length === 1) this.#parts.atTurnEnd(() => this.#flush())
  }

  #flush(): void {
    const messages = this.#outbox
    if (messages.length === 0) return
    this.#outbox = []
    this.#turn += 1
    this.#parts.post(parcelOf(messages))
  }
}
