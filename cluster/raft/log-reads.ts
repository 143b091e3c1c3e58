/**
 * Entries that have left memory and come back from the segments, for one reader at a time.
 *
 * Owns: which reads are under way, and the pieces that came back until they are used. Knows nothing of: files, peers' progress.
 * Rules: one read and one piece for each reader, so memory is bounded by their number; an entry that came back is used only
 * where the log still has its term at its index: index and term name one entry for ever [thesis 3.5].
 */
import { assert } from './assert.ts'
import type { RaftLog } from './raft-log.ts'
import type { Entry, LogIndex, NodeId, ReadLog } from './types.ts'

/** A peer that is sent entries, or the state machine of this member. */
export type LogReader = NodeId | typeof APPLY

export const APPLY: unique symbol = Symbol('apply')

/** One read. Bytes of data and count; a single larger entry is read all the same. */
const READ_BYTES_MAX = 2 * 1024 * 1024
const READ_ENTRIES_MAX = 2048

export interface Wanted {
  readonly from: LogIndex
  readonly through: LogIndex
  readonly limits: { readonly bytesMax: number; readonly countMax: number }
}

export class LogReads {
  readonly #open = new Map<LogReader, { readonly readId: number; hasFailed: boolean }>()
  readonly #pieces = new Map<LogReader, readonly Entry[]>()
  #lastId = 0

  /** The next entries for the reader within the limits, at least one; otherwise null and perhaps a read that is to be begun. */
  take(
    log: RaftLog,
    reader: LogReader,
    { from, through, limits }: Wanted,
  ): { readonly entries: readonly Entry[] | null; readonly read: ReadLog | null } {
    if (log.holdsInMemory(from)) {
      this.#pieces.delete(reader)
      return { entries: log.batch(from, through, limits), read: null }
    }
    const piece = this.#usable(log, reader, { from, through })
    if (piece.length === 0) return { entries: null, read: this.#begin(log, reader, { from, through }) }
    const entries = piece.slice(0, countWithin(piece, limits))
    // What was used goes at once; a reader that has to go back asks again.
    this.#pieces.set(reader, piece.slice(entries.length))
    return { entries, read: null }
  }

  /** Null: the segments do not hold the beginning of the range any more. */
  came(readId: number, entries: readonly Entry[] | null): void {
    for (const [reader, read] of this.#open) {
      if (read.readId !== readId) continue
      if (entries === null) {
        // Asked again at the next tick at the earliest.
        read.hasFailed = true
        return
      }
      this.#open.delete(reader)
      this.#pieces.set(reader, entries)
      return
    }
  }

  tick(): void {
    for (const [reader, { hasFailed }] of this.#open) if (hasFailed) this.#open.delete(reader)
  }

  /** Nobody leads here any more: what was read for peers goes. */
  dropPeers(): void {
    for (const readers of [this.#open, this.#pieces])
      for (const reader of readers.keys()) if (reader !== APPLY) readers.delete(reader)
  }

  /** Data bytes that came back and were not used yet. */
  get bytes(): number {
    return [...this.#pieces.values()].flat().reduce((sum, { data }) => sum + data.length, 0)
  }

  #usable(log: RaftLog, reader: LogReader, { from, through }: Omit<Wanted, 'limits'>): readonly Entry[] {
    const piece = this.#pieces.get(reader) ?? []
    const start = piece.findIndex(({ index }) => index === from)
    if (start === -1) {
      this.#pieces.delete(reader)
      return []
    }
    const rest = piece.slice(start)
    const stale = rest.findIndex(({ index, term }) => index > through || !log.matches(index, term))
    return stale === -1 ? rest : rest.slice(0, stale)
  }

  #begin(log: RaftLog, reader: LogReader, { from, through }: Omit<Wanted, 'limits'>): ReadLog | null {
    if (this.#open.has(reader)) return null
    assert(from > log.base.index, `entry ${from} was compacted away`)
    this.#lastId += 1
    this.#open.set(reader, { readId: this.#lastId, hasFailed: false })
    const end = Math.min(through, log.storedIndex, from + READ_ENTRIES_MAX - 1)
    return { type: 'readLog', readId: this.#lastId, from, through: end, bytesMax: READ_BYTES_MAX }
  }
}

function countWithin(entries: readonly Entry[], { bytesMax, countMax }: Wanted['limits']): number {
  let count = 0
  let bytes = 0
  for (const { data } of entries) {
    bytes += data.length
    if (count > 0 && (count >= countMax || bytes > bytesMax)) break
    count += 1
  }
  return count
}
