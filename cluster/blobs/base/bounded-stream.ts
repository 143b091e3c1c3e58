/**
 * Streams that cannot hang and cannot leak: a limit on stalls, a first piece fetched early, an end that is always reported.
 *
 * Rule: on every path the source is closed exactly once, and closing never waits for a source that has stalled.
 */
import type { Clock } from '../../base/clock.ts'

export interface StallLimit {
  readonly clock: Clock
  readonly stallMs: number
  /** The error for a source that gave no piece within `stallMs`. Time during which the consumer is busy does not count. */
  readonly onStall: () => Error
}

export async function* limitStalls(
  source: AsyncIterable<Uint8Array>,
  limit: StallLimit,
): AsyncGenerator<Uint8Array> {
  const iterator = source[Symbol.asyncIterator]()
  let hasStalled = false
  try {
    for (;;) {
      const next = await beforeStall(iterator.next(), limit, () => {
        hasStalled = true
      })
      if (next.done === true) return
      yield next.value
    }
  } finally {
    const closed = Promise.resolve(iterator.return?.())
    // A generator that is stuck inside next() answers return() only after next() has settled, which may be never.
    if (hasStalled) closed.catch(() => undefined)
    else await closed
  }
}

function beforeStall<T>(step: Promise<T>, limit: StallLimit, onStalled: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = limit.clock.after(limit.stallMs, () => {
      onStalled()
      reject(limit.onStall())
    })
    const settled = (finish: () => void) => () => {
      timer.cancel()
      finish()
    }
    step.then(
      (value) => settled(() => resolve(value))(),
      (cause: unknown) => settled(() => reject(cause))(),
    )
  })
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

/** Large enough for efficient disk writes, small enough that hashing one piece never blocks the event loop for long. */
const SLICE_BYTES = 512 * 1024

export async function* slices(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) yield bytes.subarray(at, at + SLICE_BYTES)
}
