/**
 * Turns the clock into ticks.
 *
 * Owns: the heartbeat of the core. Knows nothing of: what a tick causes. Rule: a process that slept gets one tick gap and never
 * several ticks at once, which would make it count its own sleep as silence of its peers.
 */
import { type Clock, ROUND_BEAT_MS, type Timer } from '../base/clock.ts'

export interface TickerOptions {
  readonly clock: Clock
  readonly heartbeatMs: number
  /** A longer pause between two ticks is a gap. */
  readonly gapMs: number
  readonly onTick: (kind: 'tick' | 'tickGap') => void
}

export class Ticker {
  readonly #options: TickerOptions
  #timer: Timer | null = null
  #last = 0

  constructor(options: TickerOptions) {
    this.#options = options
  }

  start(): void {
    this.#last = this.#options.clock.now()
    this.#arm(this.#options.heartbeatMs)
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = null
  }

  #arm(ms: number): void {
    const { clock, heartbeatMs } = this.#options
    // Another interval is kept exactly: rounded down to beats, ticks would come too often, and elections too early.
    const isRound = heartbeatMs % ROUND_BEAT_MS === 0
    this.#timer = clock.after(ms, () => this.#fire(), isRound)
  }

  #fire(): void {
    const { clock, heartbeatMs, gapMs, onTick } = this.#options
    const now = clock.now()
    const elapsed = now - this.#last
    this.#last = now
    // The next timer is shorter by the lateness of this one, so that ticks keep their average rate under load.
    const late = Math.min(Math.max(elapsed - heartbeatMs, 0), heartbeatMs / 2)
    this.#arm(heartbeatMs - late)
    onTick(elapsed > gapMs ? 'tickGap' : 'tick')
  }
}
