/**
 * The port of the Raft log on disk.
 *
 * Owns: what the driver may expect of any WAL. Adapters: ThreadWal (segments on disk, own thread)
 * and MemoryWal (tests, can lose what was not yet synced).
 * Rule: `onDurable` speaks only after the bytes have survived fdatasync; after an I/O error it never speaks again.
 */
import type { Entry, EntrySpan, HardState, LogBase, LogIndex, Term } from '../raft/types.ts'

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
  /** Entries after `base` that stay in the segments: a log with a window opens without their bytes. Absent: none, as in every log with holes. */
  readonly older?: readonly EntrySpan[]
  /** Contiguous after `older`, or `base`. Where there is a hole, `data` is empty and means nothing. */
  readonly entries: readonly Entry[]
  /**
   * Entries whose bytes are damaged, ascending. Not empty: the log takes no batch before `mend` has closed all of them.
   * They may have been acknowledged, so they are never cut off and never forgotten.
   */
  readonly holes: readonly WalHole[]
  /** Number of the last batch that was found; rises with every flush in the life of the log. Absent: batches are not counted. */
  readonly lastBatch?: number
}

/** What of a whole log comes back when it is opened: the newest entries, up to both bounds. */
export interface WalWindow {
  /** Of data. */
  readonly bytesMax: number
  readonly entriesMax: number
}

/** Durable entries that are needed again. */
export interface WalRange {
  readonly from: LogIndex
  /** Inclusive. */
  readonly through: LogIndex
  /** Of data; a larger first entry is read all the same. */
  readonly bytesMax: number
}

export interface WalHole {
  readonly index: LogIndex
  /** Null when the header of the entry is lost as well. */
  readonly term: Term | null
}

/** How a hole is closed. */
export type WalMending =
  /** The state machine holds everything up to `base` durably, and no hole lies after it: the log begins there. */
  | { readonly base: LogBase }
  /**
   * Committed entries, as a peer has them, one for each hole. One that is not what was lost here (another term, another
   * check value) proves that the lost one never was committed: it replaces it, and everything after it is void.
   */
  | { readonly committed: readonly Entry[] }

export interface WalEvents {
  /** Called once per batch, in order. */
  onDurable(sequence: number): void
  /** The log cannot be trusted any more: stop acking, stop the node. */
  onFatal(error: Error): void
  /** The disk is full and the reserve was given up to finish what was under way: take nothing new. Called each time that it was given up. */
  onDiskFull(): void
}

/** Room that the log sets aside on its disk for the moment when that is full. */
export interface WalReserve {
  /** When it is whole. */
  readonly bytes: number
  isHeld(): boolean
  /** One bounded step; to be called again until it is held. Nothing happens while there is too little room. */
  refill(): void
  /** For others on the disk. `onDiskFull` is called when it is gone. */
  release(): void
}

export interface Wal {
  /** Absent: this log has none. */
  readonly reserve?: WalReserve
  /** Reads, verifies and rewrites the tail; resolves with what survived. Throws WalCorruptError on damage that nothing can mend. */
  open(events: WalEvents): Promise<WalContent>
  /** Only between an `open` that found holes and the first `append`. Resolves with the whole log, durable and without holes. */
  mend(mending: WalMending): Promise<WalContent>
  /** Never blocks; batches that wait for the disk share one fdatasync. */
  append(batch: WalBatch): void
  /**
   * Entries of a log in use, from `from` on without a gap and at least one, as everything appended before left them; null when
   * the segments do not hold the first. Only durable ones may be asked for. Damage is told to `onFatal` and gives null.
   */
  read(range: WalRange): Promise<readonly Entry[] | null>
  /** Entries up to `index` may be dropped: whole segments are deleted. */
  compact(base: LogBase): void
  close(): Promise<void>
}
