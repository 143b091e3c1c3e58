/**
 * The port of the Raft log on disk.
 *
 * Owns: the contract of every WAL with the driver. Adapters: ThreadWal (segments on disk, own thread)
 * and MemoryWal (tests, can lose writes that were not yet synced).
 * Rule: `onDurable` is called only after fdatasync has succeeded; after an I/O error it is never called again.
 */
import type { Entry, EntrySpan, HardState, LogBase, LogIndex, Term } from '../raft/types.ts'

export interface WalBatch {
  readonly sequence: number
  readonly hardState: HardState | null
  /** Not null: void the whole log and start again after `base` (snapshot install). */
  readonly base: LogBase | null
  /** entries[0].index <= last index + 1; a lower one truncates the log from there first. */
  readonly entries: readonly Entry[]
}

export interface WalContent {
  readonly hardState: HardState
  readonly base: LogBase
  /** Entries after `base` that stay in the segments: a log with a window opens without their bytes. Absent: there are none, as in every log with holes. */
  readonly older?: readonly EntrySpan[]
  /** Contiguous after `older`, or after `base`. At a hole `data` is empty and meaningless. */
  readonly entries: readonly Entry[]
  /**
   * Entries whose bytes are damaged, ascending. Not empty: the log takes no batch before `repair` has closed all holes.
   * They may have been acknowledged, so they are never cut off and never forgotten.
   */
  readonly holes: readonly WalHole[]
  /** Number of the last batch that was found; rises with every flush in the life of the log. Absent: batches are not counted. */
  readonly lastBatch?: number
}

/** The part of a log that `open` returns: the newest entries, up to both bounds. */
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
export type WalRepair =
  /** The state machine holds everything up to `base` durably, and no hole is after it: the log begins there. */
  | { readonly base: LogBase }
  /**
   * Committed entries from a peer, one for each hole. An entry that differs from the lost one (another term, another check
   * value) proves that the lost one was never committed: it replaces the lost one, and every later entry is void.
   */
  | { readonly committed: readonly Entry[] }

export interface WalEvents {
  /** Called once per batch, in order. */
  onDurable(sequence: number): void
  /** The log cannot be trusted any more: stop acking, stop the node. */
  onFatal(error: Error): void
  /** The disk is full and the reserve was released to finish work under way: accept nothing new. Called at each release. */
  onDiskFull(): void
}

/** Space that the log reserves on its disk for the moment when the disk is full. */
export interface WalReserve {
  /** Size of the whole reserve. */
  readonly bytes: number
  isHeld(): boolean
  /** One bounded step; to be called again until the reserve is held. Does nothing while there is too little space. */
  refill(): void
  /** Frees the space for other users of the disk. `onDiskFull` is called when the reserve is released. */
  release(): void
}

export interface Wal {
  /** Absent: this log has no reserve. */
  readonly reserve?: WalReserve
  /** Reads, verifies and rewrites the tail; resolves with the log. Throws WalCorruptError on damage that cannot be repaired. */
  open(events: WalEvents): Promise<WalContent>
  /** Only between an `open` that found holes and the first `append`. Resolves with the whole log, durable and without holes. */
  repair(repair: WalRepair): Promise<WalContent>
  /** Never blocks; batches that wait for the disk share one fdatasync. */
  append(batch: WalBatch): void
  /**
   * Entries of a log in use, starting at `from` without a gap and at least one, as all earlier calls of `append` left them; null
   * when the segments do not hold the first. Only durable entries may be read. Damage is reported to `onFatal` and gives null.
   */
  read(range: WalRange): Promise<readonly Entry[] | null>
  /** Entries up to `index` may be dropped: whole segments are deleted. */
  compact(base: LogBase): void
  close(): Promise<void>
}
