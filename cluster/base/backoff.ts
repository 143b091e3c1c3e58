/**
 * When a failed repair may be tried again: later after each failure, with jitter so that nodes do not retry together.
 *
 * Rule: holds entries only for tasks that are still pending, so it cannot grow with history.
 */
import type { Clock } from './clock.ts'

const FIRST_DELAY_MS = 500
const DELAY_MAX_MS = 60_000

interface Retry {
  readonly failures: number
  readonly notBefore: number
}

export class Backoff {
  readonly #clock: Clock
  readonly #random: () => number
  #retries = new Map<string, Retry>()

  /** `random` gives numbers in [0, 1). */
  constructor(clock: Clock, random: () => number) {
    this.#clock = clock
    this.#random = random
  }

  get size(): number {
    return this.#retries.size
  }

  isDue(key: string): boolean {
    const retry = this.#retries.get(key)
    return retry === undefined || retry.notBefore <= this.#clock.now()
  }

  failed(key: string): void {
    const failures = (this.#retries.get(key)?.failures ?? 0) + 1
    const delay = Math.min(DELAY_MAX_MS, FIRST_DELAY_MS * 2 ** Math.min(failures - 1, 16))
    this.#retries.set(key, { failures, notBefore: this.#clock.now() + delay * (0.5 + this.#random() / 2) })
  }

  /** Delays the task as well, in case the view of pending tasks still shows it; `retain` forgets it once the view does not. */
  succeeded(key: string): void {
    this.#retries.set(key, { failures: 0, notBefore: this.#clock.now() + FIRST_DELAY_MS })
  }

  /** Forgets every task that is not in `keys`. */
  retain(keys: ReadonlySet<string>): void {
    for (const key of this.#retries.keys()) if (!keys.has(key)) this.#retries.delete(key)
  }
}
