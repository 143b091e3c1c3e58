/**
 * What crosses the door of cluster/ about blobs: copies, who holds them, what is to be done with them.
 *
 * Owns: the ports Blobs and CopyLedger, and what the repair engine tells of itself. Knows nothing of: what a blob means.
 */
import type { DiskView } from './disk-level.ts'
import type { NodeId } from '../raft/types.ts'

/** Lower-case hex. What it means is the caller's business; equal id and birth mean equal bytes. */
export type BlobId = string & { readonly flavour?: 'BlobId' }
/** Names one making of a blob: `<session>-<sequence>`, [a-z0-9-]{1,64}. A later upload of the same content has another birth. */
export type Birth = string & { readonly flavour?: 'Birth' }

export interface BlobName {
  readonly id: BlobId
  readonly birth: Birth
}

export interface BlobRef extends BlobName {
  /** Bytes on disk, without the store's own framing. */
  readonly size: number
  /** SHA-256 over those bytes, lower-case hex. */
  readonly checksum: string
  /** Nodes that hold a durable copy, as committed. */
  readonly replicas: readonly NodeId[]
  /** The caller's own word, given back unchanged in reports; it means nothing to the machine. */
  readonly owner?: string
}

export interface BlobCopy {
  readonly nodeId: NodeId
  /**
   * Bytes [start, end), in pieces that are the reader's own. Throws BlobMissingError, BlobDamagedError or PeerUnreachableError,
   * possibly in mid-stream.
   */
  read(start: number, end: number): AsyncIterable<Uint8Array>
}

/** A copy that has begun to give its bytes. */
export interface OpenedCopy {
  readonly copy: BlobCopy
  /** The reader's own, as those of `read`. To be read to its end or closed with return(). */
  readonly pieces: AsyncIterable<Uint8Array>
}

/** One reader's way through the copies: each is taken once, the nearest and healthiest first. */
export interface BlobReading {
  /**
   * Bytes [start, end) from the next copy that can begin; a second copy is asked when the first is slow to. Null when none
   * is left. Never rejects. A copy that cannot begin is reported by itself; one that breaks later is the reader's to report.
   */
  next(start: number, end: number): Promise<OpenedCopy | null>
  /** What kept copies from beginning. */
  readonly faults: readonly unknown[]
}

export interface Blobs {
  /** W: so many durable copies stand behind every write that resolved. */
  readonly copiesToAck: number
  /** A name for a run of uploads that was never given before on this cluster, 24 hex digits: births begin with it. */
  nextSession(): string
  /**
   * Places and writes copies; resolves when W are durable (file and directory fsynced) after a short wait for a healthy third.
   * Returns who holds a copy and who should but does not. Throws Condition `not_enough_replicas`.
   */
  write(blob: BlobToWrite): Promise<WrittenBlob>
  /** Copies to try, nearest and healthiest first. Lazy: nothing is opened before read(). */
  copies(ref: BlobRef): Iterable<BlobCopy>
  /** For a reader that waits for its bytes; lazy as well. */
  reading(ref: BlobRef): BlobReading
  /** The reader found this copy wrong or absent; it is quarantined and a repair is asked for. */
  report(ref: BlobRef, nodeId: NodeId, fault: 'missing' | 'damaged'): void
}

export interface BlobToWrite extends BlobName {
  /** The machine's, as long as a copy is under way. */
  readonly bytes: Uint8Array
  readonly checksum: string
  /**
   * Called once all copies that were begun are durable, late ones too: nobody looks at the bytes any more. Never when one of
   * them failed or was cut off, for then the system may still be at work on them.
   */
  readonly onSpent?: () => void
}

export interface WrittenBlob {
  readonly replicas: readonly NodeId[]
  readonly missing: readonly NodeId[]
}

/** A copy that this node should make: the committed row that names it is the permission to write it. */
export interface ReplicaTask {
  readonly ref: BlobRef
  readonly target: NodeId
  /** Which granting of the task: one that was granted anew is another task, whatever else is equal. */
  readonly permit: number
}

/** What the committed rows, as far as this node has applied them, say of one copy on one node's disk. */
export type CopyStanding =
  /** A row counts on it. */
  | 'listed'
  /** A task of this node. */
  | 'owed'
  /** This node is told to remove it. */
  | 'dropping'
  /** No row names it and none ever will: it may be removed. */
  | 'abandoned'
  /** Its upload may still commit, or this node lags behind: it stays. */
  | 'undecided'

export interface HeldCopies {
  readonly refs: readonly BlobRef[]
  /** Ask again with this as `after`; null when nothing is left. */
  readonly next: string | null
}

/**
 * The committed rows about copies, as the machine sees them: what to make, what to remove, what may go. All answers are
 * of the state that this node has applied, and fresh on each call.
 */
export interface CopyLedger {
  /** Committed tasks for this target, those with the fewest copies first. */
  pending(target: NodeId, limit: number): readonly ReplicaTask[]
  /** Copies that this holder is told to remove. */
  drops(holder: NodeId, limit: number): Promise<readonly BlobName[]>
  standing(name: BlobName, holder: NodeId): CopyStanding
  /** The row of this making, whoever is listed in it; null when there is none. */
  find(name: BlobName): BlobRef | null
  /** What rows say this node holds, in an order of their own. A page may be empty and not the last. */
  listed(holder: NodeId, after: string | null, limit: number): Promise<HeldCopies>
  /**
   * These copies, at most a few hundred of one target, are durable and were read back: commit them. Resolves when all are committed and
   * applied here; idempotent. A task that has ended meanwhile is passed over. Rejects where any of them may not be committed.
   */
  done(tasks: readonly ReplicaTask[]): Promise<void>
  /** They are removed from this disk, durably. Idempotent. */
  dropped(holder: NodeId, names: readonly BlobName[]): Promise<void>
  /**
   * The holder itself found its copies bad or absent: they no longer count and are to be made again. Idempotent. `inventory`:
   * by comparing all rows with its disk, whose end `inventoried` tells.
   */
  lost(holder: NodeId, refs: readonly BlobRef[], found?: 'inventory'): Promise<void>
  /** The holder has compared all rows with its disk, and told all that was lost. Idempotent. */
  inventoried(holder: NodeId): Promise<void>
}

// ---------------------------------------------------------------------------------------------
// The watch over copies

export interface ScrubStatus {
  /** ms since 1970; null before the first pass, or the first full one, of this data directory. */
  readonly startedAt: number | null
  readonly lastFullAt: number | null
  /** Share of the pass under way, [0, 1]; 1 while the next one is not due. */
  readonly progress: number
  /** Since the start of the process. */
  readonly copies: number
  readonly bytes: number
  readonly lost: number
  readonly removed: number
  /** Of the pass that was asked for last; null: none is asked for now, or it has not begun. */
  readonly demand: ScrubDemand | null
}

export interface ScrubDemand {
  readonly word: string
  readonly isDone: boolean
  /** Share of the way, [0, 1]. */
  readonly progress: number
  readonly copies: number
  readonly bytes: number
  readonly lost: number
}

export interface InventoryStatus {
  /** Complete runs since the start, and the end of the last one in ms since 1970. */
  readonly runs: number
  readonly endedAt: number | null
  readonly isRunning: boolean
  /** Over all runs. */
  readonly copies: number
  readonly lost: number
}

export interface DiskState extends DiskView {
  readonly totalBytes: number
  readonly freeBytes: number
}

/** What one member says of its own copies. */
export interface NodeRepair {
  readonly nodeId: NodeId
  /** Null: it did not answer in time, or not in a way that could be read. */
  readonly status: RepairStatus | null
  /** Null as well when the disk does not say. */
  readonly disk: DiskState | null
}

/** Of this node. */
export interface RepairStatus {
  /** What repair, scrub and compaction may read and copy together; null: no limit. */
  readonly bytesPerSecond: number | null
  /** Copies this node still has to make, as far as it looks ahead. */
  readonly pending: number
  /** Of those: how many wait because the disk of the blobs is full or suspect. */
  readonly waitingForDisk: number
  readonly scrub: ScrubStatus
  readonly inventory: InventoryStatus
  /** How often the blob directory was found to have vanished since the start. */
  readonly directoriesLost: number
}

export class BlobMissingError extends Error {
  override readonly name = 'BlobMissingError'
}

export class BlobDamagedError extends Error {
  override readonly name = 'BlobDamagedError'
}
