/**
 * The port of blobs on one node's disk.
 *
 * Owns: the guarantees that replication and repair may expect of any store (test/port-suites/blob-store.ts proves them).
 * Knows nothing of: other nodes, what a blob means, when it may be removed. A store never removes a blob by itself; `remove`
 * is for blobs that a committed collection names and for blobs that are provably abandoned, and its caller is responsible for that.
 * Rule: `write` resolves only when the bytes survive a power cut; on any failure the name stays absent.
 */
import type { BlobName, DiskState } from '../../base/types.ts'

export interface BlobContent {
  /** Bytes, without the store's own framing. */
  readonly size: number
  /** SHA-256, lower-case hex. */
  readonly checksum: string
}

/** What the bytes of a write must be. */
export interface ExpectedContent extends BlobContent {
  /** CRC-32C of the bytes. If it is given, the bytes are compared with it, and the checksum is only stored. */
  readonly crc32c?: number | undefined
}

export interface SizedName extends BlobName {
  readonly size: number
}

/** Usage and status of the disk of a store. */
export type DiskUsage = DiskState

export interface BlobStore {
  /**
   * Durable when it resolves: the bytes and everything needed to find them are flushed. Writing a name again is a no-op if the
   * stored bytes verify; a damaged copy is quarantined first. The store no longer reads a piece of the source once it requests
   * the next one. Throws BlobWriteError, Condition `slow_down`, or any error that `source` throws.
   */
  write(name: BlobName, source: AsyncIterable<Uint8Array>, expected: ExpectedContent): Promise<void>
  /**
   * The same for a name that its caller never gave to this store before, as the first copy under a new birth: no earlier copy is
   * looked for and read back. If there is one all the same, this one takes its place.
   */
  writeNew(name: BlobName, source: AsyncIterable<Uint8Array>, expected: ExpectedContent): Promise<void>
  /**
   * Bytes [start, end), in pieces that belong to the reader. Framing and length are checked first; the bytes themselves are NOT
   * hashed, because a part of a blob cannot be. The reader authenticates its frames. Throws BlobMissingError or BlobDamagedError
   * on the first next().
   */
  read(name: BlobName, start: number, end: number): AsyncIterable<Uint8Array>
  /** The content that the framing states. Detects a damaged frame and a wrong length, not a flipped byte. Throws BlobDamagedError. */
  stat(name: BlobName): Promise<BlobContent | null>
  /**
   * Whether each copy is present with this size and cannot have changed since its frame was last sound, as far as the store knows
   * without reading the copy itself. False proves nothing: call `stat` to find out.
   */
  areUnchanged(copies: readonly SizedName[]): Promise<readonly boolean[]>
  /** Reads all bytes back and compares them with the checksum. Throws BlobMissingError or BlobDamagedError. */
  verify(name: BlobName): Promise<BlobContent>
  /**
   * The names are absent when it resolves. After a crash a removed copy may be present again; it is then complete and can be
   * removed again, never partial. A name that is absent already is no error.
   */
  remove(names: readonly BlobName[]): Promise<void>
  /** Takes a copy out of service and keeps its bytes for inspection. A name that is absent already is no error. */
  quarantine(name: BlobName): Promise<void>
  /** Names after `after` in the order of (id, birth); fewer than `limit` means the end. */
  list(after: BlobName | null, limit: number): Promise<readonly BlobName[]>
  usage(): Promise<DiskUsage>
}

export type BlobWriteCode =
  /** The source has fewer or more bytes than the caller stated. */
  | 'size_mismatch'
  /** The bytes of the source do not match the checksum that the caller stated. */
  | 'checksum_mismatch'
  /** The name already holds different, intact bytes: two writers used one birth. */
  | 'name_taken'
  | 'disk_full'
  /** The disk returned an error; another node may succeed. */
  | 'io_error'
  /** An fsync failed earlier: this store acknowledges no write any more. */
  | 'store_failed'

/** The write failed, and its name is absent. */
export class BlobWriteError extends Error {
  readonly code: BlobWriteCode
  constructor(code: BlobWriteCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'BlobWriteError'
    this.code = code
  }
}
