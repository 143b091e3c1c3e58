/**
 * The log in memory: the entries after `base`, and nothing before it.
 *
 * Owns: indexes, terms and byte sums of entries. Knows nothing of: commitment, durability, peers.
 * Rule: indexes are contiguous from base.index + 1, and terms never fall with rising index.
 */
import { assert } from './assert.ts'
import type { Entry, LogBase, LogIndex, Term } from './types.ts'

interface BatchLimits {
  readonly bytesMax: number
  readonly countMax: number
}

export class RaftLog {
  #base: LogBase
  #entries: Entry[] = []
  /** #bytesThrough[i]: data bytes of everything ever appended up to and including #entries[i]. */
  #bytesThrough: number[] = []
  #bytesBefore = 0

  constructor(base: LogBase, entries: readonly Entry[]) {
    this.#base = base
    this.append(entries)
  }

  get base(): LogBase {
    return this.#base
  }

  get lastIndex(): LogIndex {
    return this.#base.index + this.#entries.length
  }

  get lastTerm(): Term {
    return this.#entries.at(-1)?.term ?? this.#base.term
  }

  /** Null when the log does not reach there, or no longer does. */
  termAt(index: LogIndex): Term | null {
    if (index === this.#base.index) return this.#base.term
    return this.#entries[index - this.#base.index - 1]?.term ?? null
  }

  /** For an index that the caller knows to be held: base.index <= index <= lastIndex. */
  knownTermAt(index: LogIndex): Term {
    const term = this.termAt(index)
    assert(term !== null, `index ${index} is outside the log (${this.#base.index}, ${this.lastIndex}]`)
    return term
  }

  matches(index: LogIndex, term: Term): boolean {
    return this.termAt(index) === term
  }

  /** Is a log that ends in (index, term) at least as complete as this one? [thesis 3.6.1] */
  isUpToDate(index: LogIndex, term: Term): boolean {
    return term > this.lastTerm || (term === this.lastTerm && index >= this.lastIndex)
  }

  append(entries: readonly Entry[]): void {
    for (const entry of entries) {
      assert(entry.index === this.lastIndex + 1, `entry ${entry.index} does not follow ${this.lastIndex}`)
      assert(
        entry.term >= this.lastTerm,
        `term falls from ${this.lastTerm} to ${entry.term} at ${entry.index}`,
      )
      this.#bytesThrough.push(this.#totalBytes() + entry.data.length)
      this.#entries.push(entry)
    }
  }

  truncateFrom(index: LogIndex): void {
    assert(index > this.#base.index && index <= this.lastIndex, `cannot truncate from ${index}`)
    this.#entries.length = index - this.#base.index - 1
    this.#bytesThrough.length = this.#entries.length
  }

  /** Forgets entries up to and including `index`; the term there stays known as the base. */
  compactTo(index: LogIndex): void {
    const term = this.knownTermAt(index)
    const count = index - this.#base.index
    this.#bytesBefore = this.#bytesThrough[count - 1] ?? this.#bytesBefore
    this.#entries = this.#entries.slice(count)
    this.#bytesThrough = this.#bytesThrough.slice(count)
    this.#base = { index, term }
  }

  /** The log is void and begins again after `base`. */
  restart(base: LogBase): void {
    this.#base = base
    this.#entries = []
    this.#bytesThrough = []
  }

  /** Entries from..through, both included. */
  slice(from: LogIndex, through: LogIndex): readonly Entry[] {
    assert(from > this.#base.index, `entry ${from} was compacted away`)
    return this.#entries.slice(from - this.#base.index - 1, through - this.#base.index)
  }

  /** A prefix of from..through within the limits, and at least one entry: an entry larger than the limit still travels. */
  batch(from: LogIndex, through: LogIndex, limits: BatchLimits): readonly Entry[] {
    let end = from
    while (
      end < through &&
      end + 1 - from < limits.countMax &&
      this.bytesBetween(from - 1, end + 1) <= limits.bytesMax
    )
      end += 1
    return this.slice(from, Math.min(end, through))
  }

  /** Data bytes of the entries after `after` up to and including `through`. */
  bytesBetween(after: LogIndex, through: LogIndex): number {
    return this.#bytesUpTo(through) - this.#bytesUpTo(after)
  }

  /**
   * The last index <= `index` whose term is <= `term`: where two logs may still agree. Below the base nothing is
   * known and the index comes back as it is.
   */
  lastNotAfterTerm(index: LogIndex, term: Term): LogIndex {
    let candidate = Math.min(index, this.lastIndex)
    while (candidate > this.#base.index && this.knownTermAt(candidate) > term) candidate -= 1
    return candidate
  }

  #totalBytes(): number {
    return this.#bytesThrough.at(-1) ?? this.#bytesBefore
  }

  #bytesUpTo(index: LogIndex): number {
    if (index <= this.#base.index) return this.#bytesBefore
    const bytes = this.#bytesThrough[index - this.#base.index - 1]
    assert(bytes !== undefined, `index ${index} is beyond the log end ${this.lastIndex}`)
    return bytes
  }
}
