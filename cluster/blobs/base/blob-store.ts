/**
 * The port of blobs on one node's disk.
 *
 * Owns: what replication and repair may ask of any store (test/port-suites/blob-store.ts proves it).
 * Knows nothing of: other nodes, what a blob means, when it may go. A store never removes anything on its own account;
 * `remove` is for what a committed collection names and for what is provably abandoned, and its caller answers for that.
 * Rule: `write` resolves only when the bytes survive a power cut, and on any failure the name stays absent.
 */
import type { BlobName, DiskState } from '../../base/types.ts'

export interface BlobContent {
  /** Bytes, without the store's own framing. */
  readonly size: number
  /** SHA-256, lower-case hex. */
  readonly checksum: string
}

export interface SizedName extends BlobName {
  readonly size: number
}

/** What the disk of a store says of itself. */
export type DiskUsage = DiskState

export interface BlobStore {
  /**
   * Durable when it resolves: the bytes and everything that leads to them are flushed. Writing a name again is a no-op if the
   * stored bytes verify; a damaged copy is quarantined first. A piece of the source is not looked at any more when the next one
   * is asked for. Throws BlobWriteError, Condition `slow_down`, or whatever
   * `source` throws.
   */
  write(name: BlobName, source: AsyncIterable<Uint8Array>, expected: BlobContent): Promise<void>
  /**
   * Bytes [start, end), in pieces that are the reader's own. Framing and length are checked first, the bytes themselves are NOT hashed: a part of a blob
   * cannot be. The reader authenticates its frames. Throws BlobMissingError or BlobDamagedError on the first next().
   */
  read(name: BlobName, start: number, end: number): AsyncIterable<Uint8Array>
  /** What the framing claims. Detects a damaged frame and a wrong length, not a flipped byte. Throws BlobDamagedError. */
  stat(name: BlobName): Promise<BlobContent | null>
  /**
   * Whether each copy is there with this size and nothing can have happened to it since its frame was sound, as far as the store knows without
   * looking at the copy itself. False says nothing: `stat` does.
   */
  areAsLeft(copies: readonly SizedName[]): Promise<readonly boolean[]>
  /** Reads everything back and compares. Throws BlobMissingError or BlobDamagedError. */
  verify(name: BlobName): Promise<BlobContent>
  /**
   * The names are absent when it resolves. After a crash a removed copy may be back, whole, and can be removed again;
   * there is never a half one. Absent is fine.
   */
  remove(names: readonly BlobName[]): Promise<void>
  /** Takes a copy out of service and keeps its bytes for inspection. Absent is fine. */
  quarantine(name: BlobName): Promise<void>
  /** Names after `after` in the order of (id, birth); fewer than `limit` means the end. */
  list(after: BlobName | null, limit: number): Promise<readonly BlobName[]>
  usage(): Promise<DiskUsage>
}

export type BlobWriteCode =
  /** The source ended early or went on for too long. */
  | 'size_mismatch'
  /** The source is not what the caller said. */
  | 'checksum_mismatch'
  /** The name already holds other, intact bytes: two makers used one birth. */
  | 'name_taken'
  | 'disk_full'
  /** The disk refused; another node may do better. */
  | 'io_error'
  /** An fsync failed earlier: this store acknowledges nothing any more. */
  | 'store_failed'

/** Nothing of the blob remains under its name. */
export class BlobWriteError extends Error {
  readonly code: BlobWriteCode
  constructor(code: BlobWriteCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'BlobWriteError'
    this.code = code
  }
}
