/**
 * The port of the Raft log on disk.
 *
 * Owns: what the driver may expect of any WAL. Adapters: ThreadWal (segments on disk, own thread)
 * and MemoryWal (tests, can lose what was not yet synced).
 * Rule: `onDurable` speaks only after the bytes have survived fdatasync; after an I/O error it never speaks again.
 */
import type { Entry, HardState, LogBase } from '../raft/types.ts'

export interface WalBatch {
  readonly sequence: number
  readonly hardState: HardState | null
  /** Void the whole log and begin after `base` (snapshot install). */
  readonly base: LogBase | null
  /** entries[0].index <= last index + 1; a lower one truncates the log from there first. */
  readonly entries: readonly Entry[]
}

export interface WalContent {
  readonly hardState: HardState
  readonly base: LogBase
  readonly entries: readonly Entry[]
}

export interface WalEvents {
  /** Called once per batch, in order. */
  onDurable(sequence: number): void
  /** The log cannot be trusted any more: stop acking, stop the node. */
  onFatal(error: Error): void
}

export interface Wal {
  /** Reads, verifies and rewrites the tail; resolves with what survived. Throws WalCorruptError on damage that is no torn tail. */
  open(events: WalEvents): Promise<WalContent>
  /** Never blocks; batches that wait for the disk share one fdatasync. */
  append(batch: WalBatch): void
  /** Entries up to `index` may be dropped: whole segments are deleted. */
  compact(base: LogBase): void
  close(): Promise<void>
}
