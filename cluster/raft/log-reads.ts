/**
 * Entries that have left memory and are read back from the segments, for one reader at a time.
 *
 * Owns: which reads are under way, and the pieces that were read until they are used. Knows nothing of: files, peers' progress.
 * Rules: one read and one piece for each reader, so memory is bounded by their number; an entry that was read back is used only
 * where the log still has its term at its index: index and term name one entry forever [thesis 3.5].
 */
import { assert } from './assert.ts'
import type { RaftLog } from './raft-log.ts'
import type { Entry, LogIndex, NodeId, ReadLog } from './types.ts'

/** A peer that is sent entries, or the state machine of this member. */
export type LogReader = NodeId | typeof APPLY

export const APPLY: unique symbol = Symbol('apply')

/** Limits of one read: bytes of data and count. A single larger entry is read all the same. */
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

  /** The next entries for the reader within the limits, at least one. Otherwise null, with the read to start if none is under way. */
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
    // Used entries are dropped at once; a reader that must go back reads again.
    this.#pieces.set(reader, piece.slice(entries.length))
    return { entries, read: null }
  }

  /** Null: the segments no longer hold the start of the range. */
  finished(readId: number, entries: readonly Entry[] | null): void {
    for (const [reader, read] of this.#open) {
      if (read.readId !== readId) continue
      if (entries === null) {
        // The read is repeated at the next tick at the earliest.
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

  /** This member no longer leads: drops the entries that were read for peers. */
  dropPeers(): void {
    for (const readers of [this.#open, this.#pieces])
      for (const reader of readers.keys()) if (reader !== APPLY) readers.delete(reader)
  }

  /** Data bytes that were read back and not used yet. */
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
