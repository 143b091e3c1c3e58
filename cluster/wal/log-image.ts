/**
 * The log in memory, as replaying batches in order makes it.
 *
 * Owns: which entries are live after truncations, snapshot installs and compactions.
 * Knows nothing of: bytes and files. Rule: an image that began in the middle of the history is whole only when
 * every entry above its base has been seen; `isWhole` says so.
 */
import assert from 'node:assert/strict'
import type { Entry, LogBase } from '../raft/types.ts'
import type { LogHead } from './log-head.ts'
import { EMPTY_HEAD, withBase, withBatch, withCompaction } from './log-head.ts'
import type { WalBatch, WalContent } from './wal.ts'

export class LogImage {
  #head: LogHead
  #entries: Entry[] = []
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
    assert(this.isWhole, 'entries of a log with a hole are not handed out')
    return { hardState: this.#head.hardState, base: this.#head.base, entries: this.#entries }
  }

  /** All or nothing: an unlawful batch throws and leaves the image as it was. */
  apply(batch: Omit<WalBatch, 'sequence'>): void {
    const { base, entries } = batch
    const head = withBatch(this.#head, batch)
    if (base !== null) this.#void(base)
    if (entries[0] !== undefined) this.#truncateFrom(entries[0].index)
    for (const entry of entries) this.#entries.push(entry)
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
    this.#unseenUpTo = base.index
    this.#head = withBase(this.#head, base)
  }

  #truncateFrom(index: number): void {
    const keep = Math.max(0, index - this.#firstIndex)
    this.#entries.length = Math.min(this.#entries.length, keep)
    this.#unseenUpTo = Math.min(this.#unseenUpTo, index - 1)
  }
}
