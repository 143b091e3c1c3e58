/**
 * Ranges in which a read found nothing since the last write, so that an idle node asks LevelDB once and not with every beat. [record 84]
 *
 * Owns: which ranges these are. Knows nothing of: rows.
 * Rules: any write ends all of it before it begins. What a read found is kept only if no write was under way when it began, and none began since. Under load
 * it is never of use, and costs nothing.
 */
import type { KeyRange } from '../../state-machine/base/row-key.ts'

/** Background work asks for some twenty. */
const RANGES_MAX = 256

export class EmptyRanges {
  /** From the start of a range to its end. */
  readonly #known = new Map<string, string>()
  #started = 0
  #underWay = 0

  /** What to give to `found` with the result of a read that begins now; null: a write is under way. */
  get moment(): number | null {
    return this.#underWay === 0 ? this.#started : null
  }

  has({ start, end }: KeyRange): boolean {
    return this.#known.get(start) === end
  }

  found({ start, end }: KeyRange, moment: number | null): void {
    if (moment === null || moment !== this.moment) return
    if (this.#known.size >= RANGES_MAX) this.#known.clear()
    this.#known.set(start, end)
  }

  /** Call it before a write begins. Returns what to call when it is done; after a write that failed, never. */
  writing(): () => void {
    this.#known.clear()
    this.#started += 1
    this.#underWay += 1
    return () => {
      this.#underWay -= 1
    }
  }
}
