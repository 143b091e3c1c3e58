/**
 * The time of the log: the time that each entry finally has, and how much of it may end something permanently.
 *
 * Owns: the rule by which the stamp of an entry becomes its time, the part of it that is withheld, and an operator's correction.
 * Knows nothing of: clocks, who stamps. Rules: a function of only the log, equal on every node; the time falls only by a
 * correction, and the confirmed time is never later than it.
 */
import type { TimeCorrection } from '../../base/types.ts'

/** From this feature level on: no entry runs ahead of its stamp, jumps are withheld, corrections are understood. */
export const TIME_LEVEL = 3

/**
 * A longer step between two entries is withheld from the confirmed time. A leader with nothing else to write stamps an entry
 * every TIME_ENTRY_EVERY_MS, so only a cluster that was switched off for longer, or whose clocks jumped, makes such a step: a long
 * weekend passes without an operator.
 */
export const TIME_STEP_MAX_MS: number = 4 * 86_400_000

/** A correction refers to the time that its operator saw: if its entry is stamped further than this from it, it does nothing. */
export const CORRECTION_VALID_MS: number = 10 * 60_000

export interface LogTimeRecord {
  /** Of the last entry. ms since 1970 */
  readonly lastTime: number
  /** By this much the confirmed time lags behind. ms */
  readonly withheldMs: number
  /** The latest time ever reached: ids ascend by it even after the time was set back. */
  readonly highTime: number
}

/** The time with which an entry is applied. */
export interface EntryTime {
  readonly time: number
  readonly confirmedTime: number
  readonly orderTime: number
}

export class LogTime {
  #last: number
  #withheld: number
  #high: number

  constructor({ lastTime, withheldMs, highTime }: LogTimeRecord) {
    this.#last = lastTime
    this.#withheld = withheldMs
    this.#high = highTime
  }

  get record(): LogTimeRecord {
    return { lastTime: this.#last, withheldMs: this.#withheld, highTime: this.#high }
  }

  get present(): EntryTime {
    return { time: this.#last, confirmedTime: this.#last - this.#withheld, orderTime: this.#high }
  }

  /** `level`: of the state before the entry. Clocks of leaders differ and may go back; the time of the log never does. */
  advance(stamp: number, level: number): void {
    const next = level < TIME_LEVEL ? Math.max(this.#last + 1, stamp) : Math.max(this.#last, stamp)
    const step = next - this.#last
    if (level >= TIME_LEVEL && step > TIME_STEP_MAX_MS) this.#withheld += step
    this.#last = next
    this.#high = Math.max(this.#high, next)
  }

  /** `stamp`: of the entry that carries it, which is a majority's and may be before the time of the log. */
  correct(correction: TimeCorrection, stamp: number): void {
    if (correction.kind === 'confirm') {
      this.#withheld = Math.max(0, this.#withheld - correction.withheldMs)
      return
    }
    const { seenTime } = correction
    if (Math.abs(stamp - seenTime) > CORRECTION_VALID_MS || stamp >= this.#last) return
    const confirmed = Math.min(this.#last - this.#withheld, stamp)
    this.#last = stamp
    this.#withheld = stamp - confirmed
  }
}
