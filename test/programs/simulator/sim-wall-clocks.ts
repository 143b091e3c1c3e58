/**
 * The wall clocks of a simulated world: each machine has its own, which may jump, run at another speed and be set right.
 *
 * Owns: which clocks are wrong, and how much the time of the log may be off from true time.
 * Knows nothing of: expiry. Rule: at most a minority of the machines has a wrong clock; with fewer voters than machines
 * they may be a majority all the same, and then nothing is asked of the time before it is right again.
 */
import type { Configuration } from '../../../cluster/raft/types.ts'
import type { Random } from './random.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** How far apart right clocks are. */
const RIGHT_MS = 1_500
/** cluster.clock_skew_max */
const TOLERANCE_MS = 5_000
const JUMPS_MS = [10_000, HOUR_MS, 2 * HOUR_MS, 8 * DAY_MS, 400 * DAY_MS, 5_000 * DAY_MS]
/** Longer than any message is in flight. */
const FORGOTTEN_MS = 120_000
/** Wrong seconds for each second. */
const DRIFTS = [0, 0, 0.5, 3, -0.9, -3]

interface WallClock {
  offsetMs: number
  drift: number
  sinceMs: number
  /** When it was set right; absent before that, and for a clock that never was wrong. */
  wrongUntilMs: number
}

export interface WallClocksParts {
  readonly names: readonly string[]
  readonly random: Random
  /** True time since the start of the world. ms */
  readonly now: () => number
  readonly violate: (broken: string) => void
}

export class SimWallClocks {
  readonly #parts: WallClocksParts
  readonly #clocks = new Map<string, WallClock>()
  /** A majority of some configuration had wrong clocks, and the time of the log may follow them. */
  #isLost = false

  constructor(parts: WallClocksParts) {
    this.#parts = parts
    for (const name of parts.names) this.#clocks.set(name, this.#right())
  }

  /** The offset of this machine's clock from true time. ms */
  offsetOf(name: string): number {
    const clock = this.#clocks.get(name)
    if (clock === undefined) return 0
    return clock.offsetMs + clock.drift * (this.#parts.now() - clock.sinceMs)
  }

  /** Or was lately: its reports of then may still be in flight. */
  isWrong(name: string): boolean {
    const clock = this.#clocks.get(name)
    if (clock === undefined) return false
    return this.#isOff(clock) || this.#parts.now() - clock.wrongUntilMs < FORGOTTEN_MS
  }

  /** One clock goes wrong, or further wrong, or is set right. */
  spoil(name: string): void {
    const { names, random } = this.#parts
    const wrong = names.filter((other) => this.isWrong(other)).length
    const isOver = wrong >= Math.floor((names.length - 1) / 2)
    if (this.isWrong(name) ? random.chance(0.5) : isOver) return this.#setRight(name)
    const offsetMs = random.pick(JUMPS_MS) * random.pick([1, -1])
    this.#clocks.set(name, { offsetMs, drift: random.pick(DRIFTS), ...this.#since() })
  }

  setAllRight(): void {
    for (const name of this.#clocks.keys()) this.#setRight(name)
  }

  /** An entry has this time now, true time being `trueTime`. */
  check({ index, time, configurations, trueTime }: CheckedEntry): void {
    if (time <= trueTime + TOLERANCE_MS) this.#isLost = false
    const groups = configurations.flatMap(({ voters, outgoing }) => [voters, outgoing])
    if (groups.some((group) => this.#isMostlyWrong(group))) this.#isLost = true
    if (this.#isLost || time <= trueTime + TOLERANCE_MS) return
    this.#parts.violate(`entry ${index} is stamped ${time - trueTime} ms ahead of true time`)
  }

  #isMostlyWrong(group: readonly string[]): boolean {
    const wrong = group.filter((name) => this.isWrong(name)).length
    return group.length > 0 && wrong > Math.floor((group.length - 1) / 2)
  }

  #right(): WallClock {
    const { random } = this.#parts
    return { offsetMs: random.between(-RIGHT_MS, RIGHT_MS), drift: 0, ...this.#since() }
  }

  #since(): Pick<WallClock, 'sinceMs' | 'wrongUntilMs'> {
    return { sinceMs: this.#parts.now(), wrongUntilMs: Number.NEGATIVE_INFINITY }
  }

  #setRight(name: string): void {
    const before = this.#clocks.get(name)
    const wrongUntilMs =
      before !== undefined && this.#isOff(before) ? this.#parts.now() : before?.wrongUntilMs
    this.#clocks.set(name, { ...this.#right(), wrongUntilMs: wrongUntilMs ?? Number.NEGATIVE_INFINITY })
  }

  #isOff({ offsetMs, drift }: WallClock): boolean {
    return drift !== 0 || Math.abs(offsetMs) > RIGHT_MS
  }
}

export interface CheckedEntry {
  readonly index: number
  readonly time: number
  /** In force after the batch of the entry, and all that were since the entry before: it may have been stamped under any of them. */
  readonly configurations: readonly Configuration[]
  readonly trueTime: number
}
