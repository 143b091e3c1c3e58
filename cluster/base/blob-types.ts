/**
 * The types about blobs that cluster/ exports: copies, their holders, tasks on copies.
 *
 * Owns: the ports Blobs and CopyLedger, and the status of the repair engine. Knows nothing of: what a blob means.
 */
import type { DiskLevel, DiskView } from './disk-level.ts'
import type { NodeId } from '../raft/types.ts'

/** Lower-case hex. Opaque to the machine; equal id and birth mean equal bytes. */
export type BlobId = string & { readonly flavour?: 'BlobId' }
/** Names one upload of a blob: `<session>-<sequence>`, [a-z0-9-]{1,64}. A later upload of the same content has another birth. */
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
  /** Set by the caller and returned unchanged in reports; opaque to the machine. */
  readonly owner?: string
}

export interface BlobCopy {
  readonly nodeId: NodeId
  /**
   * Bytes [start, end), in pieces that the reader owns. Throws BlobMissingError, BlobDamagedError or PeerUnreachableError,
   * possibly in mid-stream.
   */
  read(start: number, end: number): AsyncIterable<Uint8Array>
}

/** A copy whose first bytes have arrived. */
export interface OpenedCopy {
  readonly copy: BlobCopy
  /** The reader owns the pieces, as those of `read`. It must read to the end or call return(). */
  readonly pieces: AsyncIterable<Uint8Array>
}

/** The copies that one reader tries: each once, the nearest and healthiest first. */
export interface BlobReading {
  /**
   * Bytes [start, end) from the next copy that delivers its first bytes; a second copy is asked when the first is slow. Null when
   * no copy is left. Never rejects. A copy that delivers nothing is reported here; the reader reports a copy that fails later.
   */
  next(start: number, end: number): Promise<OpenedCopy | null>
  /** The errors of copies that delivered nothing. */
  readonly faults: readonly unknown[]
}

export interface Blobs {
  /** W: every write that resolved has at least W durable copies. */
  readonly copiesToAck: number
  /** A name for a run of uploads that is unique in this cluster, 24 hex digits: births begin with it. */
  nextSession(): string
  /**
   * Places and writes copies; resolves when W are durable (file and directory fsynced) after a short wait for a healthy third.
   * Returns the nodes that hold a copy, and those that should but do not. Throws Condition `not_enough_replicas`.
   */
  write(blob: BlobToWrite): Promise<WrittenBlob>
  /** Copies to try, nearest and healthiest first. Lazy: nothing is opened before read(). */
  copies(ref: BlobRef): Iterable<BlobCopy>
  /** The same for a reader that waits for its bytes; lazy as well. */
  reading(ref: BlobRef): BlobReading
  /** The reader found this copy damaged or absent; it is quarantined and a repair is requested. */
  report(ref: BlobRef, nodeId: NodeId, fault: 'missing' | 'damaged'): void
}

export interface BlobToWrite extends BlobName {
  /** The machine owns the bytes while a copy is under way. */
  readonly bytes: Uint8Array
  readonly checksum: string
  /**
   * CRC-32C of the bytes, computed before the checksum: each node compares what arrived with it before it confirms its copy, for a
   * quarter of the time of a SHA-256. Absent: the nodes compare with the checksum.
   */
  readonly crc32c?: number | undefined
  /**
   * Called once all started copies are durable, late ones too: the machine no longer reads the bytes. Never called when one of
   * the copies failed or was cut off: the system may still read the bytes then.
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
  /** Names one grant of the task: a task that is granted again is another task, even if everything else is equal. */
  readonly permit: number
}

/** The status of one copy on one node's disk, according to the committed rows that this node has applied. */
export type CopyStatus =
  /** A row lists it. */
  | 'listed'
  /** A task asks this node to make it. */
  | 'owed'
  /** A row asks this node to remove it. */
  | 'dropping'
  /** No row names it and none ever will: it may be removed. */
  | 'abandoned'
  /** Its upload may still commit, or this node lags behind: it stays. */
  | 'undecided'

export interface HeldCopies {
  readonly refs: readonly BlobRef[]
  /** `after` of the next call; null when nothing is left. */
  readonly next: string | null
}

/**
 * The committed rows about copies, as the machine sees them: copies to make, copies to remove, copies that may be removed. Each
 * call reads the state that this node has applied by then.
 */
export interface CopyLedger {
  /** Committed tasks for this target, those with the fewest copies first. */
  pending(target: NodeId, limit: number): readonly ReplicaTask[]
  /** Copies that rows ask this holder to remove. */
  drops(holder: NodeId, limit: number): Promise<readonly BlobName[]>
  copyStatus(name: BlobName, holder: NodeId): CopyStatus
  /** The row of this upload, regardless of the holders it lists; null when there is none. */
  find(name: BlobName): BlobRef | null
  /** Copies that rows list at this holder, in an order that the ledger chooses. A page may be empty and not the last. */
  listed(holder: NodeId, after: string | null, limit: number): Promise<HeldCopies>
  /**
   * These copies, at most a few hundred of one target, are durable and were read back: commit them. Resolves when all are committed and
   * applied here; idempotent. A task that has ended meanwhile is skipped. Rejects where any of them may not be committed.
   */
  done(tasks: readonly ReplicaTask[]): Promise<void>
  /** Records that these copies are removed from this disk, durably. Idempotent. */
  dropped(holder: NodeId, names: readonly BlobName[]): Promise<void>
  /**
   * The holder itself found its copies damaged or absent: they no longer count and must be made again. Idempotent. `inventory`:
   * the holder found it by comparing all rows with its disk; `inventoried` records the end of that comparison.
   */
  lost(holder: NodeId, refs: readonly BlobRef[], found?: 'inventory'): Promise<void>
  /** The holder has compared all rows with its disk, and reported all lost copies. Idempotent. */
  inventoried(holder: NodeId): Promise<void>
}

// ---------------------------------------------------------------------------------------------
// The watch over copies

export interface ScrubStatus {
  /** ms since 1970; null before the first pass, or the first full one, of this data directory. */
  readonly startedAt: number | null
  readonly lastFullAt: number | null
  /** Share of the present pass, [0, 1]; 1 while the next pass is not due. */
  readonly progress: number
  /** Since the start of the process. */
  readonly copies: number
  readonly bytes: number
  readonly lost: number
  readonly removed: number
  /** The pass that was demanded last; null: none is demanded now, or it has not started. */
  readonly demand: ScrubDemand | null
}

export interface ScrubDemand {
  readonly word: string
  readonly isDone: boolean
  /** Share of the pass, [0, 1]. */
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
  readonly doubt?: DiskDoubt
  /** Of a node with several; its state is that of all that are in use. */
  readonly disks?: readonly DiskPart[]
}

/** One of several disks of a node. */
export interface DiskPart {
  readonly directory: string
  /** Empty: the node never had a disk there. */
  readonly diskId: string
  /**
   * `draining`: it takes no new copies, and those that it has move to other disks; `drained`: it has none. `absent`: nothing or no disk lies at its directory. `foreign`: a disk of another node, or a
   * second path to one. Copies on a disk that is absent, foreign or failed do not count.
   */
  readonly status: DiskStatus
  /** 0 for a disk that is out. */
  readonly totalBytes: number
  readonly freeBytes: number
  readonly level: DiskLevel
  /** Absent: nothing. */
  readonly doubt?: DiskDoubt
}

/** Since the disk was taken into use: operations failed now and then, or flushes take long. */
export const DISK_DOUBTS = ['errors', 'slow_flushes'] as const
export type DiskDoubt = (typeof DISK_DOUBTS)[number]

/** To empty a disk, or to use it again. */
export interface DiskOrder {
  readonly diskId: string
  readonly isDraining: boolean
  /** Everything is checked and nothing is written. */
  readonly isRehearsal: boolean
}

export interface DiskPlan {
  readonly directory: string
  readonly diskId: string
  readonly status: DiskStatus
  /** On the disk. */
  readonly copies: number
  /** Of those copies, according to rows. */
  readonly bytes: number
  /** False: there are more copies than were counted. */
  readonly isComplete: boolean
  /** That the other disks of the node take. */
  readonly roomBytes: number
}

export const DISK_REFUSALS = ['no_disk', 'one_disk', 'out', 'not_listed', 'no_room', 'no_answer'] as const
/** `one_disk`: the node has no disks to choose from. `out`: nothing can be read off it. `no_answer`: of the member, in time. */
export type DiskRefusal = (typeof DISK_REFUSALS)[number]

export type DiskOrdered =
  | { readonly kind: 'done'; readonly plan: DiskPlan }
  | { readonly kind: 'refused'; readonly why: DiskRefusal; readonly plan?: DiskPlan }

/** On which disks of a node copies are. */
export interface DiskPlaces {
  readonly disks: readonly { readonly diskId: string; readonly directory: string }[]
  /** For each name the position of its disk in `disks`; null: it was found on none. */
  readonly found: readonly (number | null)[]
}

export type DiskStatus = (typeof DISK_STATUSES)[number]

export const DISK_STATUSES = ['serving', 'draining', 'drained', 'absent', 'foreign', 'failed'] as const

/** The status of one member's own copies. */
export interface NodeRepair {
  readonly nodeId: NodeId
  /** Null: the member did not answer in time, or its answer could not be read. */
  readonly status: RepairStatus | null
  /** Null also when the size of the disk is unknown. */
  readonly disk: DiskState | null
}

/** The status of repair on this node. */
export interface RepairStatus {
  /** Limit of reads and copies by repair, scrub and compaction together; null: no limit. */
  readonly bytesPerSecond: number | null
  /** Copies this node still has to make, as far as it looks ahead. */
  readonly pending: number
  /** Copies in `pending` that wait because the disk of the blobs is full or suspect. */
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
