/**
 * The log in memory, built by replaying batches in order.
 *
 * Owns: which entries are live after truncations, snapshot installs and compactions, and which of them are lost.
 * Knows nothing of: bytes and files. Rule: an image that started in the middle of the history is whole only when
 * every entry above its base has been read; `isWhole` reports that. With a window only the newest entries stay in memory, the
 * others as spans.
 */
import assert from 'node:assert/strict'
import type { Entry, LogBase } from '../raft/types.ts'
import type { LogHead } from './log-head.ts'
import { EntrySpans } from './entry-spans.ts'
import { EMPTY_HEAD, withBase, withBatch, withCompaction } from './log-head.ts'
import type { WalBatch, WalContent, WalHole, WalWindow } from './wal.ts'

/** Entries leave the window when it exceeds a limit by one part in SLACK: not at every entry. */
const SLACK = 8

export class LogImage<Lost extends WalHole = WalHole> {
  readonly #window: WalWindow | null
  #head: LogHead
  /** Entries that left the window; #entries follow them. */
  #older = new EntrySpans()
  #entries: Entry[] = []
  /** Data bytes of #entries. */
  #bytes = 0
  readonly #lost = new Map<number, Lost>()
  /** Entries in (base, unseenUpTo] were written before this image began. */
  #unseenUpTo: number

  /** `window` null: every entry stays in memory. */
  constructor(head: LogHead = EMPTY_HEAD, window: WalWindow | null = null) {
    this.#head = head
    this.#window = window
    this.#unseenUpTo = head.last.index
  }

  get head(): LogHead {
    return this.#head
  }

  get isWhole(): boolean {
    return this.#unseenUpTo <= this.#head.base.index
  }

  get content(): WalContent {
    assert(this.isWhole, 'a log without its beginning is not returned')
    const { hardState, base } = this.#head
    const holes = this.lost.map(({ index, term }) => ({ index, term }))
    const older = this.#older.list
    return { hardState, base, ...(older.length > 0 ? { older } : {}), entries: this.#entries, holes }
  }

  /** Entries that are live and damaged, ascending. */
  get lost(): readonly Lost[] {
    return [...this.#lost.values()].toSorted((one, other) => one.index - other.index)
  }

  /** All or nothing: an invalid batch throws and changes nothing. `lost`: the lost entries of the batch. */
  apply(batch: Omit<WalBatch, 'sequence'>, lost: readonly Lost[] = []): void {
    const { base, entries } = batch
    const head = withBatch(this.#head, batch)
    if (base !== null) this.#void(base)
    if (entries[0] !== undefined) this.#truncateFrom(entries[0].index)
    for (const entry of entries) {
      this.#entries.push(entry)
      this.#bytes += entry.data.length
    }
    for (const entry of lost) this.#lost.set(entry.index, entry)
    this.#head = head
    this.#shrink()
  }

  compact(base: LogBase): void {
    const head = withCompaction(this.#head, base)
    const known = this.#entries[base.index - this.#firstIndex]
    assert(
      known === undefined || known.term === base.term,
      `compaction to ${base.index} names a term that the log does not have`,
    )
    this.#older.forgetTo(head.base.index)
    this.#drop(0, Math.max(0, head.base.index - this.#firstIndex + 1))
    this.#head = head
    for (const index of this.#lost.keys()) if (index <= head.base.index) this.#lost.delete(index)
  }

  /** Replaces entries by equal ones, from the end to the start, until `replace` returns null. */
  rehome(replace: (entry: Entry) => Entry | null): void {
    for (let position = this.#entries.length - 1; position >= 0; position--) {
      const entry = this.#entries[position]
      assert(entry, 'position lies inside of the log')
      const next = replace(entry)
      if (next === null) return
      this.#entries[position] = next
    }
  }

  get #firstIndex(): number {
    return this.#head.last.index - this.#entries.length + 1
  }

  #void(base: LogBase): void {
    this.#older = new EntrySpans()
    this.#entries = []
    this.#bytes = 0
    this.#lost.clear()
    this.#unseenUpTo = base.index
    this.#head = withBase(this.#head, base)
  }

  #truncateFrom(index: number): void {
    const first = this.#firstIndex
    this.#drop(Math.max(0, index - first), this.#entries.length)
    if (index < first) this.#older.truncateFrom(index)
    this.#unseenUpTo = Math.min(this.#unseenUpTo, index - 1)
    for (const lost of this.#lost.keys()) if (lost >= index) this.#lost.delete(lost)
  }

  #shrink(): void {
    if (this.#window === null) return
    const { bytesMax, entriesMax } = this.#window
    const [entries, bytes] = [this.#entries.length, this.#bytes]
    if (entries <= entriesMax + entriesMax / SLACK && bytes <= bytesMax + bytesMax / SLACK) return
    let [count, left] = [0, bytes]
    for (const entry of this.#entries) {
      if (entries - count <= entriesMax && left <= bytesMax) break
      this.#older.add(entry)
      left -= entry.data.length
      count += 1
    }
    this.#drop(0, count)
  }

  #drop(start: number, count: number): void {
    for (const { data } of this.#entries.splice(start, count)) this.#bytes -= data.length
  }
}
