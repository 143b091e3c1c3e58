/**
 * Streams that cannot hang and cannot leak: a limit on stalls, a first piece fetched early, an end that is always reported.
 *
 * Rule: on every path the source is closed exactly once, and closing never waits for a source that has stalled.
 */
import type { Clock, Timer } from '../../base/clock.ts'

export interface StallLimit {
  readonly clock: Clock
  readonly stallMs: number
  /** The error for a source that gave no piece within `stallMs`. Time during which the consumer is busy does not count. */
  readonly onStall: () => Error
}

export function limitStalls(source: AsyncIterable<Uint8Array>, limit: StallLimit): ByteIterator {
  return new StallLimited(source[Symbol.asyncIterator](), limit)
}

/** Not a generator: large bodies come in many pieces, and each costs a generator several turns of the queue of promises. */
export type ByteIterator = AsyncIterableIterator<Uint8Array, undefined>
type Step = IteratorResult<Uint8Array, undefined>
const END: Step = { done: true, value: undefined }

/** One timer for the whole stream: it is not set again for each piece, but looks how long the present one is waited for. */
class StallLimited implements ByteIterator {
  readonly #source: AsyncIterator<Uint8Array>
  readonly #limit: StallLimit
  /** Of the step that is waited for. */
  #reject: ((cause: Error) => void) | null = null
  #waitingSince = 0
  #timer: Timer | null = null
  #isClosed = false

  constructor(source: AsyncIterator<Uint8Array>, limit: StallLimit) {
    this.#source = source
    this.#limit = limit
  }

  next(): Promise<Step> {
    if (this.#isClosed) return Promise.resolve(END)
    return new Promise((resolve, reject) => {
      this.#reject = reject
      this.#waitingSince = this.#limit.clock.now()
      this.#timer ??= this.#look(this.#limit.stallMs)
      this.#source.next().then(
        (step) => {
          this.#reject = null
          if (step.done !== true) return resolve(step)
          this.#close()
          resolve(END)
        },
        (cause: unknown) => {
          this.#reject = null
          this.return().then(() => reject(cause), reject)
        },
      )
    })
  }

  async return(): Promise<Step> {
    if (this.#isClosed) return END
    this.#close()
    await this.#source.return?.()
    return END
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #look(afterMs: number): Timer {
    const { clock, stallMs, onStall } = this.#limit
    return clock.after(afterMs, () => {
      this.#timer = null
      const reject = this.#reject
      if (reject === null) return
      const leftMs = this.#waitingSince + stallMs - clock.now()
      if (leftMs > 0) {
        this.#timer = this.#look(leftMs)
        return
      }
      // A generator that is stuck inside next() answers return() only after next() has settled, which may be never.
      this.return().catch(() => undefined)
      reject(onStall())
    })
  }

  #close(): void {
    this.#isClosed = true
    this.#timer?.cancel()
    this.#timer = null
  }
}

/**
 * Fetches the first piece before it resolves, so that a source that cannot start rejects the promise instead of failing in the
 * middle of an answer. `onEnd` runs when the source ends, fails, or is closed early; it must tolerate a second call.
 */
export async function primed(
  source: AsyncIterable<Uint8Array>,
  onEnd: () => void,
): Promise<AsyncIterable<Uint8Array>> {
  const iterator = source[Symbol.asyncIterator]()
  let first: IteratorResult<Uint8Array> | null
  try {
    first = await iterator.next()
  } catch (cause) {
    onEnd()
    throw cause
  }
  const step = async (): Promise<IteratorResult<Uint8Array>> => {
    const early = first
    first = null
    try {
      const next = early ?? (await iterator.next())
      if (next.done === true) onEnd()
      return next
    } catch (cause) {
      onEnd()
      throw cause
    }
  }
  // An object, not a generator: return() on a generator that has not started would skip its finally.
  const close = async (): Promise<IteratorResult<Uint8Array>> => {
    onEnd()
    await iterator.return?.()
    return { done: true, value: undefined }
  }
  return { [Symbol.asyncIterator]: () => ({ next: step, return: close }) }
}
