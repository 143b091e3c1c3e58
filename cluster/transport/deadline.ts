/**
 * Combines a time limit and the caller's own signal in one abort signal.
 *
 * Owns: the timer and the listener, and that both are gone after `release`.
 * Rule: the time limit ends with `met`; the caller's signal counts until `release`.
 */
import type { Clock, Timer } from '../base/clock.ts'

export interface DeadlineOptions {
  readonly clock: Clock
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

export class Deadline {
  readonly #abort = new AbortController()
  readonly #timer: Timer
  readonly #outer: AbortSignal | undefined
  readonly #forward = () => this.#abort.abort(this.#outer?.reason)

  constructor({ clock, timeoutMs, signal }: DeadlineOptions) {
    this.#timer = clock.after(timeoutMs, () =>
      this.#abort.abort(new Error(`No answer within ${timeoutMs} ms`)),
    )
    this.#outer = signal
    if (signal?.aborted === true) this.#forward()
    else signal?.addEventListener('abort', this.#forward, { once: true })
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** Settles like the work, or rejects with the reason of the abort if that comes first. */
  race<T>(work: Promise<T>): Promise<T> {
    return raceAbort(this.signal, work)
  }

  met(): void {
    this.#timer.cancel()
  }

  release(): void {
    this.met()
    this.#outer?.removeEventListener('abort', this.#forward)
  }
}

export async function raceAbort<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  let abandon = () => {}
  const aborted = new Promise<never>((_resolve, reject) => {
    abandon = () => reject(signal.reason)
    if (signal.aborted) abandon()
    else signal.addEventListener('abort', abandon, { once: true })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', abandon)
  }
}
