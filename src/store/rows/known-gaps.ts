/**
 * Between which row keys nothing lies, as walks found it, so that a walk steps from common prefix to common prefix without LevelDB. [record 84]
 *
 * Owns: which gaps are known, the bounds, and that each holds in what LevelDB has. Knows nothing of: object keys, lines of a listing.
 * Rules: a gap ends at a row that was verified. What a write touches is forgotten before the write begins. What a walk finds is kept only if no
 * write touched it that may be missing in what the walk saw: one that had not ended when the walk began, or that began later. So a gap holds
 * before and after every write under way. A walk asks only for gaps that were known when it began: they hold at its moment, whatever is written meanwhile.
 */
import { comesBefore } from '../../state-machine/base/key-order.ts'

/** No row lies from `from` on until `to`, and one lies at `to`. Row keys. */
export interface Gap {
  readonly from: string
  readonly to: string
}

export interface GapBounds {
  /** Characters of all gaps together. */
  readonly textMax: number
  /** Keys of writes that are remembered while walks are under way. */
  readonly writtenMax: number
}

const BOUNDS: GapBounds = { textMax: 4 * 1024 * 1024, writtenMax: 65_536 }

interface WriteUnderWay {
  readonly number: number
  readonly keys: readonly string[]
  hasEnded: boolean
}

export class KnownGaps {
  readonly #bounds: GapBounds
  /** In the order of keys, none overlaps another. Never changed in place: walks hold it. */
  #gaps: readonly Gap[] = []
  /** Those under way, and all that began since the oldest open walk. */
  #writes: WriteUnderWay[] = []
  #written = 0
  #started = 0
  /** Which keys the writes up to this one had is not known any more. */
  #forgotten = 0
  #walks = 0

  constructor(bounds: GapBounds = BOUNDS) {
    this.#bounds = bounds
  }

  get size(): number {
    return this.#gaps.length
  }

  /** Call it in the turn in which the walk fixes its moment. The caller closes what it gets. */
  walk(): GapWalk {
    const begin = this.#writes.find(({ hasEnded }) => !hasEnded)?.number ?? this.#started + 1
    this.#walks += 1
    return new GapWalk(this.#gaps, (found) => {
      this.#walks -= 1
      this.#keep(found, begin)
      this.#forgetWrites()
    })
  }

  /** Call it before a write begins, with the keys of its rows. Returns what to call when it is done; after a write that failed, never. */
  writing(keys: readonly string[]): () => void {
    this.#started += 1
    const write = { number: this.#started, keys, hasEnded: false }
    this.#gaps = without(this.#gaps, keys)
    this.#writes.push(write)
    this.#written += keys.length
    if (this.#written > this.#bounds.writtenMax) {
      this.#forgotten = this.#started
      this.#forgetEnded()
    }
    return () => {
      write.hasEnded = true
      this.#forgetWrites()
    }
  }

  /** `begin`: the first write that may be missing in what was seen. */
  #keep(found: readonly Gap[], begin: number): void {
    if (begin <= this.#forgotten || found.length === 0) return
    let kept = found
    for (const { number, keys } of this.#writes) if (number >= begin) kept = without(kept, keys)
    const all = merged(this.#gaps, kept)
    if (textOf(all) <= this.#bounds.textMax) this.#gaps = all
    else this.#gaps = textOf(kept) <= this.#bounds.textMax ? kept : []
  }

  #forgetWrites(): void {
    if (this.#walks === 0) this.#forgetEnded()
  }

  #forgetEnded(): void {
    this.#writes = this.#writes.filter(({ hasEnded }) => !hasEnded)
    this.#written = this.#writes.reduce((sum, { keys }) => sum + keys.length, 0)
  }
}

/** What one walk knows of its moment, and what it finds. */
export class GapWalk {
  readonly #known: readonly Gap[]
  readonly #close: (found: readonly Gap[]) => void
  readonly #found: Gap[] = []
  /** Behind the gap that was asked for last: a walk asks for one after another. */
  #at = 0

  constructor(known: readonly Gap[], close: (found: readonly Gap[]) => void) {
    this.#known = known
    this.#close = close
  }

  /** The first row key from `target` on; null: not known. */
  next(target: string): string | null {
    const here = this.#known[this.#at]
    const isHere = here !== undefined && contains(here, target)
    const at = isHere ? this.#at : firstUntil(this.#known, target)
    const gap = this.#known[at]
    if (gap === undefined || !contains(gap, target)) return null
    this.#at = at + 1
    return gap.to
  }

  /** In the order of the walk, and of a row that was verified. */
  found(gap: Gap): void {
    this.#found.push(gap)
  }

  /** Once. Keeps what was found. */
  close(): void {
    this.#close(this.#found)
  }
}

function contains({ from, to }: Gap, key: string): boolean {
  return !comesBefore(key, from) && !comesBefore(to, key)
}

/** The place of the first gap that ends at `key` or behind it. */
function firstUntil(gaps: readonly Gap[], key: string): number {
  let [low, high] = [0, gaps.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (comesBefore((gaps[middle] as Gap).to, key)) low = middle + 1
    else high = middle
  }
  return low
}

/** The row at the end of a gap may have gone, or a row come in between. */
function without(gaps: readonly Gap[], keys: readonly string[]): readonly Gap[] {
  const [first, last] = [gaps[0], gaps.at(-1)]
  if (first === undefined || last === undefined) return gaps
  const touched = new Set<Gap>()
  for (const key of keys) {
    if (comesBefore(key, first.from) || comesBefore(last.to, key)) continue
    const gap = gaps[firstUntil(gaps, key)]
    if (gap !== undefined && contains(gap, key)) touched.add(gap)
  }
  return touched.size === 0 ? gaps : gaps.filter((gap) => !touched.has(gap))
}

/** Both are in order and hold at the same time: gaps that overlap have the same end, and the longer one says it all. */
function merged(gaps: readonly Gap[], found: readonly Gap[]): readonly Gap[] {
  const [first, last] = [found[0], found.at(-1)]
  if (first === undefined || last === undefined) return gaps
  const low = firstUntil(gaps, first.to)
  const high = firstUntil(gaps, `${last.to}\u0000`)
  const among: Gap[] = []
  let at = low
  for (const gap of found) {
    for (; at < high && comesBefore((gaps[at] as Gap).to, gap.to); at++) among.push(gaps[at] as Gap)
    const same = gaps[at]
    const isSame = at < high && same?.to === gap.to
    if (isSame) at++
    among.push(isSame && comesBefore(same.from, gap.from) ? same : gap)
  }
  return [...gaps.slice(0, low), ...among, ...gaps.slice(at)]
}

function textOf(gaps: readonly Gap[]): number {
  return gaps.reduce((sum, { from, to }) => sum + from.length + to.length, 0)
}
