/**
 * Rounds of background work, one after the other, until `stop` is called.
 *
 * Owns: when the next round starts. Knows nothing of: what a round does.
 * Rule: a round that throws is logged and tried again; two rounds never overlap; `stop` waits for the running round.
 */
import { type Clock, ROUND_BEAT_MS, type Timer } from './clock.ts'
import type { Logger } from './types.ts'

/** A shorter pause is a pace that somebody asked for, and is kept. ms */
const ROUNDED_FROM_MS = 10 * ROUND_BEAT_MS

export interface BackgroundLoopOptions {
  readonly clock: Clock
  readonly logger: Logger
  /** The log message when a round fails. */
  readonly failure: string
  readonly retryMs: number
  /** Resolves with the time until the next round, in ms. */
  readonly round: () => Promise<number>
}

export class BackgroundLoop {
  readonly #options: BackgroundLoopOptions
  #timer: Timer | null = null
  #endRest: (() => void) | null = null
  #running: Promise<void> = Promise.resolve()
  #isStarted = false

  constructor(options: BackgroundLoopOptions) {
    this.#options = options
  }

  /** False as soon as `stop` was called: a round checks it between its steps. */
  get isStarted(): boolean {
    return this.#isStarted
  }

  start(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    this.#schedule(0)
  }

  /** Starts no further round and resolves when the running round has ended. */
  async stop(): Promise<void> {
    this.#isStarted = false
    this.#timer?.cancel()
    this.#endRest?.()
    await this.#running
  }

  /** Waits between two steps of a round; `stop` ends the wait at once. */
  async rest(ms: number): Promise<void> {
    if (!this.#isStarted) return
    await new Promise<void>((resolve) => {
      const timer = this.#options.clock.after(ms, resolve)
      this.#endRest = () => {
        timer.cancel()
        resolve()
      }
    })
    this.#endRest = null
  }

  #schedule(delayMs: number): void {
    if (!this.#isStarted) return
    const { clock, logger, failure, retryMs, round } = this.#options
    const begin = (): void => {
      this.#running = round().then(
        (nextMs) => this.#schedule(nextMs),
        (err: unknown) => {
          logger.warn({ err }, failure)
          this.#schedule(retryMs)
        },
      )
    }
    this.#timer = clock.after(delayMs, begin, delayMs >= ROUNDED_FROM_MS)
  }
}
