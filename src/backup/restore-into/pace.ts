/** Keeps reading at a rate, and looks meanwhile whether it is still wanted. */

export interface PaceParts {
  /** Monotonic, ms. */
  readonly now: () => number
  /** Ends early when the signal fires. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
}

/** It is looked so often whether the bytes are still wanted. ms */
const REST_MAX_MS = 1_000

export class Pace {
  readonly #parts: PaceParts
  /** When what was read so far fits the rate. */
  #paidAt = 0

  constructor(parts: PaceParts) {
    this.#parts = parts
  }

  /** Resolves when so many bytes more may be read. `rate`: bytes a second; null: any. Throws what `check` throws, and the reason of the signal. */
  async rest(
    bytes: number,
    {
      rate,
      check,
      signal,
    }: { readonly rate: number | null; readonly check: () => void; readonly signal: AbortSignal },
  ): Promise<void> {
    const { now, wait } = this.#parts
    signal.throwIfAborted()
    check()
    if (rate === null) return
    const begin = Math.max(now(), this.#paidAt)
    this.#paidAt = begin + (bytes / rate) * 1000
    while (begin > now()) {
      await wait(Math.min(begin - now(), REST_MAX_MS), signal)
      signal.throwIfAborted()
      check()
    }
  }
}
