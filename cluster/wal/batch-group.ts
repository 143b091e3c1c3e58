/**
 * Merges waiting batches into one, so that they share a write and an fdatasync.
 *
 * Rule: replaying the merged batch gives the same log as replaying the batches one after another.
 */
import type { Entry, LogBase } from '../raft/types.ts'
import type { WalBatch } from './wal.ts'

export interface BatchGroup {
  readonly base: LogBase | null
  /** Contiguous. */
  readonly entries: readonly Entry[]
}

export function mergeBatches(batches: readonly WalBatch[]): BatchGroup {
  let base: LogBase | null = null
  let entries: Entry[] = []
  for (const batch of batches) {
    if (batch.base !== null) {
      base = batch.base
      entries = []
    }
    const [first] = batch.entries
    const [start] = entries
    // Entries that a later batch replaces are void, so they are not written.
    if (first !== undefined && start !== undefined)
      entries.length = Math.max(0, Math.min(entries.length, first.index - start.index))
    for (const entry of batch.entries) entries.push(entry)
  }
  return { base, entries }
}
