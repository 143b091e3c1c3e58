/**
 * Waits of a loop that ends when `end` is called.
 *
 * Rule: after `end` every wait under way and every later one throws StoppedError, so a loop needs no checks of its own.
 */
import type { Clock } from './clock.ts'
import type { Logger } from './types.ts'

const RETRY_FIRST_MS = 1_000
const RETRY_MAX_MS = 60_000
/** A longer wait uses several timers in turn, because a timer has a maximum delay. */
const TIMER_MS_MAX = 3_600_000

export class StoppedError extends Error {
  override readonly name = 'StoppedError'
}

export class RetryLoop {
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #wakes = new Set<() => void>()
  #isOver = false

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock
    this.#logger = logger
  }

  end(): void {
    this.#isOver = true
    for (const wake of this.#wakes) wake()
  }

  check(): void {
    if (this.#isOver) throw new StoppedError('The node is stopping')
  }

  /** Ends early when `isEnough` is true; it is evaluated at the start and at every `nudge`. */
  async wait(ms: number, isEnough: () => boolean = () => false): Promise<void> {
    const until = this.#clock.now() + ms
    do await this.#rest(isEnough() ? 0 : Math.min(TIMER_MS_MAX, Math.max(0, until - this.#clock.now())))
    while (this.#clock.now() < until && !isEnough())
  }

  /** Makes every wait under way evaluate its `isEnough` again. */
  nudge(): void {
    for (const wake of this.#wakes) wake()
  }

  /** Retries with growing delays, at least once a minute, until `work` succeeds. `failure` is the log message of a failure. */
  async retry<T>(failure: string, work: () => Promise<T>): Promise<T> {
    for (let delayMs = RETRY_FIRST_MS; ; delayMs = Math.min(RETRY_MAX_MS, delayMs * 2)) {
      this.check()
      try {
        return await work()
      } catch (err) {
        if (err instanceof StoppedError) throw err
        this.#logger.warn({ err, retryMs: delayMs }, failure)
      }
      await this.wait(delayMs)
    }
  }

  async #rest(ms: number): Promise<void> {
    this.check()
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        timer.cancel()
        this.#wakes.delete(wake)
        resolve()
      }
      const timer = this.#clock.after(ms, wake)
      this.#wakes.add(wake)
    })
    this.check()
  }
}
