/**
 * Rounds of background work, one after the other, until they are told to end.
 *
 * Owns: when the next round begins. Knows nothing of: what a round does.
 * Rule: a round that throws is logged and tried again; two rounds never overlap; `stop` waits for the one that runs.
 */
import type { Clock, Timer } from './clock.ts'
import type { Logger } from './types.ts'

export interface BackgroundLoopOptions {
  readonly clock: Clock
  readonly logger: Logger
  /** What the log says when a round fails. */
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

  /** False as soon as a stop was asked for: a round looks at it between its steps. */
  get isStarted(): boolean {
    return this.#isStarted
  }

  start(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    this.#schedule(0)
  }

  /** Begins nothing more and resolves when the round that runs has ended. */
  async stop(): Promise<void> {
    this.#isStarted = false
    this.#timer?.cancel()
    this.#endRest?.()
    await this.#running
  }

  /** Between two steps of a round; ends at once at a stop. */
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
    this.#timer = clock.after(delayMs, () => {
      this.#running = round().then(
        (nextMs) => this.#schedule(nextMs),
        (err: unknown) => {
          logger.warn({ err }, failure)
          this.#schedule(retryMs)
        },
      )
    })
  }
}
