/**
 * The last hour of one node: one value of each series for each interval.
 *
 * Owns: the values, in one array whose size never changes (22 series of 360 values of 8 bytes). Knows nothing of: where values come from, clocks. PURE.
 * Rules: an interval that was not pushed is NaN; where the clock was set back, what it reaches again is forgotten, so no interval has two values.
 */
import { bySeries, HISTORY_POINTS, type Point, SERIES, type Values } from './series.ts'

export class HistoryRing {
  readonly #values = new Float64Array(SERIES.length * HISTORY_POINTS).fill(NaN)
  #last = -1

  /** The number of the newest interval: its beginning by the length of an interval. -1: there is none. */
  get last(): number {
    return this.#last
  }

  get byteLength(): number {
    return this.#values.byteLength
  }

  /** `interval`: a whole number, 0 or more. */
  push(interval: number, point: Point): void {
    if (!Number.isSafeInteger(interval) || interval < 0)
      throw new RangeError(`An interval of the history must be a whole number, got ${interval}`)
    const from = interval > this.#last ? this.#last + 1 : interval
    const to = Math.max(interval, this.#last)
    for (let one = Math.max(from, to - HISTORY_POINTS + 1); one <= to; one++) this.#set(one, null)
    this.#set(interval, point)
    this.#last = interval
  }

  /** The intervals up to this one, the oldest first; NaN for those that are not known. */
  read(upTo: number): Values {
    return bySeries((_, row) => {
      const found = new Float64Array(HISTORY_POINTS).fill(NaN)
      for (let at = 0; at < HISTORY_POINTS; at++) {
        const interval = upTo - HISTORY_POINTS + 1 + at
        if (interval < 0 || interval > this.#last || interval <= this.#last - HISTORY_POINTS) continue
        found[at] = this.#values[row * HISTORY_POINTS + (interval % HISTORY_POINTS)] ?? NaN
      }
      return found
    })
  }

  #set(interval: number, point: Point | null): void {
    for (const [row, name] of SERIES.entries())
      this.#values[row * HISTORY_POINTS + (interval % HISTORY_POINTS)] = point === null ? NaN : point[name]
  }
}
