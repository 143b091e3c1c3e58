/**
 * Spreads bytes over time, for all transfers of a command together.
 *
 * Owns: the times; the clock is passed in. Rule: after a pause no more than one second of the rate is caught up.
 */
import type { Clock } from '../../client/clients.ts'

const BURST_MS = 1_000

export class BytesRate {
  readonly #bytesPerSecond: number
  readonly #clock: Clock
  /** When all bytes so far may have passed; milliseconds since 1970. */
  #dueAt: number

  /** `bytesPerSecond`: Infinity for no limit. */
  constructor(bytesPerSecond: number, clock: Clock) {
    this.#bytesPerSecond = bytesPerSecond
    this.#clock = clock
    this.#dueAt = clock.now()
  }

  /** Resolves when bytes that have arrived may be followed by others. Rejects when the signal is aborted. */
  async passed(bytes: number, signal: AbortSignal): Promise<void> {
    if (this.#bytesPerSecond === Infinity) return
    const now = this.#clock.now()
    this.#dueAt = Math.max(this.#dueAt, now - BURST_MS) + (bytes / this.#bytesPerSecond) * 1000
    if (this.#dueAt > now) await this.#clock.wait(this.#dueAt - now, signal)
  }
}
