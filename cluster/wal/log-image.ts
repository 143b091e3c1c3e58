/**
 * The log in memory, as replaying batches in order makes it.
 *
 * Owns: which entries are live after truncations, snapshot installs and compactions, and which of them are lost.
 * Knows nothing of: bytes and files. Rule: an image that began in the middle of the history is whole only when
 * every entry above its base has been seen; `isWhole` says so.
 */
import assert from 'node:assert/strict'
import type { Entry, LogBase } from '../raft/types.ts'
import type { LogHead } from './log-head.ts'
import { EMPTY_HEAD, withBase, withBatch, withCompaction } from './log-head.ts'
import type { WalBatch, WalContent, WalHole } from './wal.ts'

export class LogImage<Lost extends WalHole = WalHole> {
  #head: LogHead
  #entries: Entry[] = []
  readonly #lost = new Map<number, Lost>()
  /** Entries in (base, unseenUpTo] were written before this image began. */
  #unseenUpTo: number

  constructor(head: LogHead = EMPTY_HEAD) {
    this.#head = head
    this.#unseenUpTo = head.last.index
  }

  get head(): LogHead {
    return this.#head
  }

  get isWhole(): boolean {
    return this.#unseenUpTo <= this.#head.base.index
  }

  get content(): WalContent {
    assert(this.isWhole, 'a log that lacks its beginning is not handed out')
    const { hardState, base } = this.#head
    const holes = this.lost.map(({ index, term }) => ({ index, term }))
    return { hardState, base, entries: this.#entries, holes }
  }

  /** Entries that are live and damaged, ascending. */
  get lost(): readonly Lost[] {
    return [...this.#lost.values()].toSorted((one, other) => one.index - other.index)
  }

  /** All or nothing: an unlawful batch throws and leaves the image as it was. `lost` are those of its entries. */
  apply(batch: Omit<WalBatch, 'sequence'>, lost: readonly Lost[] = []): void {
    const { base, entries } = batch
    const head = withBatch(this.#head, batch)
    if (base !== null) this.#void(base)
    if (entries[0] !== undefined) this.#truncateFrom(entries[0].index)
    for (const entry of entries) this.#entries.push(entry)
    for (const entry of lost) this.#lost.set(entry.index, entry)
    this.#head = head
  }

  compact(base: LogBase): void {
    const head = withCompaction(this.#head, base)
    const known = this.#entries[base.index - this.#firstIndex]
    assert(
      known === undefined || known.term === base.term,
      `compaction to ${base.index} names a term that the log does not have`,
    )
    this.#entries.splice(0, Math.max(0, head.base.index - this.#firstIndex + 1))
    this.#head = head
    for (const index of this.#lost.keys()) if (index <= head.base.index) this.#lost.delete(index)
  }

  /** Replaces entries by equal ones, from the end backwards, until `replace` returns null. */
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
    this.#entries = []
    this.#lost.clear()
    this.#unseenUpTo = base.index
    this.#head = withBase(this.#head, base)
  }

  #truncateFrom(index: number): void {
    const keep = Math.max(0, index - this.#firstIndex)
    this.#entries.length = Math.min(this.#entries.length, keep)
    this.#unseenUpTo = Math.min(this.#unseenUpTo, index - 1)
    for (const lost of this.#lost.keys()) if (lost >= index) this.#lost.delete(lost)
  }
}
