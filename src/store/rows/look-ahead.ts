/**
 * Finds the next common prefixes of a walk with several iterators at once, which start where the names seen so far let further ones be expected. [record 116]
 *
 * Owns: those iterators, where they start, when guessing pays. Knows nothing of: lines of a listing, what is known from other walks.
 * Rules: a start is only a guess, and what is answered never depends on it: an answer is the first row behind a common prefix that a row was found in.
 * All iterators are over the snapshot of the walk. A round reads at most one row for each line that it looks for, and two for each iterator.
 */
import { comesBefore } from '../../state-machine/base/key-order.ts'
import { successor } from '../../state-machine/base/row-key.ts'
import { namesAhead } from './expected-names.ts'

/** More at once cost the same for each step. */
const WALKERS_MAX = 16
/** Lines for each iterator of a round, at least. */
const LINES_EACH = 4
/** Guesses begin after so many steps that each cost a hop, so a page that is known but for a few gaps guesses nothing. */
const HOPS_MIN = 8
const NAMES_MAX = 64

/** A row behind which all rows of its common prefix may be stepped over. */
interface Landing {
  /** Of the row; null: there is none in the walk. */
  readonly key: string | null
}

export interface Walker {
  /** The first row from `target` on, in place and verified. */
  first(target: string): Promise<string | null>
  close(): Promise<void>
}

/** The common prefix of a row, as the beginning of row keys; null: it has none. */
type FoldOf = (key: string) => string | null

export class LookAhead {
  readonly #open: () => Walker
  readonly #walkers: Walker[] = []
  /** The row behind, by the key from which on it was looked for. */
  readonly #landings = new Map<string, Landing>()
  /** Row keys of the common prefixes that were stepped over last, in order. */
  #names: string[] = []
  #hops = 0
  #width = WALKERS_MAX
  /** Of the last round. */
  #asked = 0
  #used = 0

  constructor(open: () => Walker) {
    this.#open = open
  }

  /** The walk steps over a common prefix, given as the beginning of row keys. */
  stepsOver(fold: string): void {
    if (this.#names.length === NAMES_MAX) this.#names = this.#names.slice(NAMES_MAX / 2)
    this.#names.push(fold)
  }

  /** The walk found a row without a read. */
  knew(): void {
    this.#hops = 0
  }

  /** The walk read for one row. */
  hopped(): void {
    this.#hops++
  }

  /** What was found behind; undefined: nothing was looked for there. */
  take(behind: string): Landing | undefined {
    const landing = this.#landings.get(behind)
    if (landing === undefined) return undefined
    this.#landings.delete(behind)
    this.#used++
    return landing
  }

  /** Looks for about `lines` common prefixes from `behind` on. False: it pays no more, or not yet. */
  async look(behind: string, lines: number, foldOf: FoldOf): Promise<boolean> {
    if (this.#hops < HOPS_MIN) return false
    if (this.#used * 2 < this.#asked) this.#width = Math.floor(this.#width / 2)
    const width = Math.min(this.#width, Math.floor(lines / LINES_EACH))
    if (width < 2) return false
    this.#landings.clear()
    const round = { left: lines + width, asked: new Set<string>(), foldOf }
    const starts = this.#guesses(width - 1, lines / width)
    ;[this.#asked, this.#used] = [0, 0]
    while (this.#walkers.length <= starts.length) this.#walkers.push(this.#open())
    const [main, ...others] = this.#walkers as [Walker, ...Walker[]]
    const guessed = starts.map((start, n) => this.#walkFromGuess(others[n] as Walker, start, round))
    // What cannot be read here is read, and reported, by the walk itself if it is in its way.
    await Promise.allSettled([this.#walk(main, behind, round), ...guessed])
    return true
  }

  async close(): Promise<void> {
    for (const walker of this.#walkers) await walker.close()
  }

  /** Row keys behind what was stepped over last. */
  #guesses(count: number, apart: number): readonly string[] {
    // A fold ends with a delimiter, which is no part of a name.
    const names = this.#names.map((fold) => fold.slice(0, -1))
    const last = names.at(-1) ?? ''
    return [...namesAhead(names, apart, count)].filter((name) => comesBefore(last, name))
  }

  async #walkFromGuess(walker: Walker, start: string, round: Round): Promise<void> {
    this.#asked++
    const key = await walker.first(start)
    const fold = key === null ? null : round.foldOf(key)
    if (fold !== null) await this.#walk(walker, successor(fold), round)
  }

  /** Until another one was there before, or the round has what it looks for. */
  async #walk(walker: Walker, from: string, round: Round): Promise<void> {
    let behind = from
    while (round.left > 0 && !round.asked.has(behind)) {
      round.left--
      round.asked.add(behind)
      this.#asked++
      const key = await walker.first(behind)
      this.#landings.set(behind, { key })
      const fold = key === null ? null : round.foldOf(key)
      if (fold === null) return
      behind = successor(fold)
    }
  }
}

interface Round {
  /** Rows that may still be read. */
  left: number
  /** From where on a row was looked for. */
  readonly asked: Set<string>
  readonly foldOf: FoldOf
}
