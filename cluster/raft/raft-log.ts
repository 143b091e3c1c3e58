/**
 * The log: terms of all entries after `base`, and a window of the newest entries themselves.
 *
 * Owns: indexes, terms and byte sums of entries, and which of them are in memory. Knows nothing of: commitment, durability, peers.
 * Rule: indexes are contiguous from base.index + 1, and terms never fall with rising index. The window ends at the last entry;
 * older entries are only in the segments on disk. Byte sums are exact inside the window and estimates before it.
 */
import { assert } from './assert.ts'
import type { Entry, EntrySpan, LogBase, LogIndex, Term } from './types.ts'

interface BatchLimits {
  readonly bytesMax: number
  readonly countMax: number
}

/** The entries from `first` to the next run have this term. */
interface TermRun {
  readonly first: LogIndex
  readonly term: Term
}

/** Data bytes of everything ever appended up to and including `index`. */
interface Mark {
  readonly index: LogIndex
  readonly bytes: number
}

/** Entries between two exact byte sums of entries that are not in memory. Count. */
const MARK_EVERY = 256
/** The window shrinks when it exceeds a limit by one part in SLACK: not at every entry. */
const SLACK = 8

export class RaftLog {
  #base: LogBase
  /** Bounded by the number of elections since the base. */
  #runs: TermRun[] = []
  /** Marks of the entries between the base and the window, ascending; the first is that of the base. */
  #marks: Mark[]
  /** The last entry that only the segments hold; #entries follow it. */
  #before: Mark
  #entries: Entry[] = []
  /** #bytesThrough[i]: data bytes of everything ever appended up to and including #entries[i]. */
  #bytesThrough: number[] = []

  constructor(base: LogBase, entries: readonly Entry[], older: readonly EntrySpan[] = []) {
    this.#base = base
    this.#before = { index: base.index, bytes: 0 }
    this.#marks = [this.#before]
    for (const span of older) this.#appendStored(span)
    this.append(entries)
  }

  get base(): LogBase {
    return this.#base
  }

  get lastIndex(): LogIndex {
    return this.#before.index + this.#entries.length
  }

  get lastTerm(): Term {
    return this.#runs.at(-1)?.term ?? this.#base.term
  }

  /** The last entry that only the segments hold; the base when all are in memory. */
  get storedIndex(): LogIndex {
    return this.#before.index
  }

  /** The entries in memory: count and bytes of data. */
  get window(): { readonly entries: number; readonly bytes: number } {
    return { entries: this.#entries.length, bytes: this.#totalBytes() - this.#before.bytes }
  }

  /** Null when the log does not reach there, or no longer does. */
  termAt(index: LogIndex): Term | null {
    if (index === this.#base.index) return this.#base.term
    if (index < this.#base.index || index > this.lastIndex) return null
    return this.#runs[this.#runAt(index)]?.term ?? null
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
      if (this.#runs.at(-1)?.term !== entry.term) this.#runs.push({ first: entry.index, term: entry.term })
      this.#bytesThrough.push(this.#totalBytes() + entry.data.length)
      this.#entries.push(entry)
    }
  }

  truncateFrom(index: LogIndex): void {
    assert(index > this.#base.index && index <= this.lastIndex, `cannot truncate from ${index}`)
    const end = { index: index - 1, bytes: this.#bytesUpTo(index - 1) }
    if (end.index < this.#before.index) this.#before = end
    this.#entries.length = end.index - this.#before.index
    this.#bytesThrough.length = this.#entries.length
    this.#marks = this.#marks.filter((mark) => mark.index <= end.index)
    this.#runs = this.#runs.filter((run) => run.first < index)
  }

  /** Forgets entries up to and including `index`; the base keeps the term at `index`. */
  compactTo(index: LogIndex): void {
    const term = this.knownTermAt(index)
    const mark = { index, bytes: this.#bytesUpTo(index) }
    this.#marks = [mark, ...this.#marks.filter((later) => later.index > index)]
    if (index > this.#before.index) this.#dropWindow(index - this.#before.index)
    this.#base = { index, term }
    const alive = index < this.lastIndex ? this.#runs.slice(this.#runAt(index + 1)) : []
    this.#runs = alive.map((run) => ({ ...run, first: Math.max(run.first, index + 1) }))
  }

  /** Drops the whole log and starts again after `base`. */
  restart(base: LogBase): void {
    this.#before = { index: base.index, bytes: this.#totalBytes() }
    this.#marks = [this.#before]
    this.#base = base
    this.#runs = []
    this.#entries = []
    this.#bytesThrough = []
  }

  /** The oldest entries leave memory until the window fits; only those up to `durable`, which the segments hold. */
  shrinkWindow(limits: BatchLimits, durable: LogIndex): void {
    const { entries, bytes } = this.window
    const { bytesMax, countMax } = limits
    if (entries <= countMax + countMax / SLACK && bytes <= bytesMax + bytesMax / SLACK) return
    const droppable = Math.min(entries, durable - this.#before.index)
    const total = this.#totalBytes()
    let count = 0
    while (
      count < droppable &&
      (entries - count > countMax || total - this.#bytesUpTo(this.#before.index + count) > bytesMax)
    )
      count += 1
    if (count === 0) return
    this.#dropWindow(count)
    const last = this.#marks.at(-1)
    if (last === undefined || this.#before.index - last.index >= MARK_EVERY) this.#marks.push(this.#before)
  }

  holdsInMemory(index: LogIndex): boolean {
    return index > this.#before.index && index <= this.lastIndex
  }

  /** Entries from..through, both included. */
  slice(from: LogIndex, through: LogIndex): readonly Entry[] {
    assert(from > this.#before.index, `entry ${from} is not in memory`)
    return this.#entries.slice(from - this.#before.index - 1, through - this.#before.index)
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
   * The last index <= `index` whose term is <= `term`: where two logs may still agree. Below the base no term is
   * known and `index` is returned unchanged.
   */
  lastNotAfterTerm(index: LogIndex, term: Term): LogIndex {
    let candidate = Math.min(index, this.lastIndex)
    while (candidate > this.#base.index && this.knownTermAt(candidate) > term)
      candidate = (this.#runs[this.#runAt(candidate)]?.first ?? candidate) - 1
    return candidate
  }

  #appendStored({ first, last, term, bytes }: EntrySpan): void {
    assert(first === this.lastIndex + 1, `span ${first} does not follow ${this.lastIndex}`)
    assert(term >= this.lastTerm, `term falls from ${this.lastTerm} to ${term} at ${first}`)
    if (this.#runs.at(-1)?.term !== term) this.#runs.push({ first, term })
    this.#before = { index: last, bytes: this.#before.bytes + bytes }
    this.#marks.push(this.#before)
  }

  #dropWindow(count: number): void {
    const bytes = this.#bytesThrough[count - 1]
    assert(bytes !== undefined, 'an entry that leaves memory is in memory')
    this.#before = { index: this.#before.index + count, bytes }
    this.#entries = this.#entries.slice(count)
    this.#bytesThrough = this.#bytesThrough.slice(count)
  }

  #totalBytes(): number {
    return this.#bytesThrough.at(-1) ?? this.#before.bytes
  }

  #bytesUpTo(index: LogIndex): number {
    if (index <= this.#before.index) return this.#estimate(index)
    const bytes = this.#bytesThrough[index - this.#before.index - 1]
    assert(bytes !== undefined, `index ${index} is beyond the log end ${this.lastIndex}`)
    return bytes
  }

  /** Between two marks all entries count as equally large. */
  #estimate(index: LogIndex): number {
    if (index >= this.#before.index) return this.#before.bytes
    const next = lastWhere(this.#marks, (mark) => mark.index <= index) + 1
    const low = this.#marks[next - 1]
    if (low === undefined) return this.#marks[0]?.bytes ?? 0
    const high = this.#marks[next] ?? this.#before
    const share = (index - low.index) / Math.max(1, high.index - low.index)
    return low.bytes + Math.floor((high.bytes - low.bytes) * share)
  }

  #runAt(index: LogIndex): number {
    return lastWhere(this.#runs, (run) => run.first <= index)
  }
}

/** Position of the last row for which `holds` is true, -1 when there is none. The rows for which it is true come first. */
function lastWhere<T>(rows: readonly T[], holds: (row: T) => boolean): number {
  let [low, high] = [0, rows.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    const row = rows[middle]
    if (row !== undefined && holds(row)) low = middle + 1
    else high = middle
  }
  return low - 1
}
