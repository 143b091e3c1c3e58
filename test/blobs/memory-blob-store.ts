/**
 * A blob store without a disk, and so without real time: for tests on a virtual clock.
 *
 * Proved by the same contract suite as the real one. With `gate` a test can delay every write.
 */
import {
  type BlobContent,
  type BlobStore,
  BlobWriteError,
  type DiskUsage,
  type ExpectedContent,
  type SizedName,
} from '../../cluster/blobs/base/blob-store.ts'
import { takesNewBlobs } from '../../cluster/base/disk-level.ts'
import { fileNameOf, isChecksum, parseFileName } from '../../cluster/blobs/base/blob-name.ts'
import { BlobDamagedError, BlobMissingError, type BlobName } from '../../cluster/base/types.ts'
import { crc32c } from '@node-rs/crc32'
import { collect, sha256 } from './blob-samples.ts'

interface StoredBlob extends BlobContent {
  readonly bytes: Uint8Array
}

export class MemoryBlobStore implements BlobStore {
  readonly #blobs = new Map<string, StoredBlob>()
  readonly quarantined: string[] = []
  /** Awaited after the bytes have arrived, before the copy counts. */
  gate: () => Promise<void> = async () => undefined
  /** Runs between the write and its acknowledgement, to simulate a lying disk. */
  afterWrite: (name: BlobName) => Promise<void> = async () => undefined
  /** The result of `usage`. With a level that takes no new blob, writes are refused too. */
  disk: DiskUsage = { totalBytes: 1_000_000, freeBytes: 600_000, level: 'open', isSuspect: false }
  writes = 0

  async write(name: BlobName, source: AsyncIterable<Uint8Array>, expected: ExpectedContent): Promise<void> {
    if (!isChecksum(expected.checksum)) throw new TypeError('Invalid blob checksum')
    if (await this.#holdsAlready(name, expected)) return
    await this.writeNew(name, source, expected)
  }

  async writeNew(
    name: BlobName,
    source: AsyncIterable<Uint8Array>,
    expected: ExpectedContent,
  ): Promise<void> {
    const file = fileNameOf(name)
    if (!isChecksum(expected.checksum)) throw new TypeError('Invalid blob checksum')
    if (!takesNewBlobs(this.disk.level)) throw new BlobWriteError('disk_full', 'The disk is full')
    const bytes = await collect(source)
    await this.gate()
    if (bytes.length !== expected.size) throw new BlobWriteError('size_mismatch', `${bytes.length} bytes`)
    const { crc32c: crc } = expected
    if (crc === undefined ? sha256(bytes) !== expected.checksum : crc32c(bytes) !== crc)
      throw new BlobWriteError('checksum_mismatch', 'Other bytes')
    this.#blobs.set(file, { size: expected.size, checksum: expected.checksum, bytes })
    this.writes++
    await this.afterWrite(name)
  }

  async *read(name: BlobName, start: number, end: number): AsyncGenerator<Uint8Array> {
    const { bytes } = this.#get(name)
    if (!(start >= 0 && start <= end && end <= bytes.length)) throw new RangeError('No such range')
    for (let at = start; at < end; at += 300) yield bytes.slice(at, Math.min(end, at + 300))
  }

  async stat(name: BlobName): Promise<BlobContent | null> {
    const stored = this.#blobs.get(fileNameOf(name))
    return stored === undefined ? null : { size: stored.size, checksum: stored.checksum }
  }

  /** This store knows nothing without reading. */
  async areUnchanged(copies: readonly SizedName[]): Promise<readonly boolean[]> {
    return copies.map(() => false)
  }

  async verify(name: BlobName): Promise<BlobContent> {
    const { size, checksum, bytes } = this.#get(name)
    if (sha256(bytes) !== checksum) throw new BlobDamagedError(`Blob "${name.id}" is damaged`)
    return { size, checksum }
  }

  async quarantine(name: BlobName): Promise<void> {
    if (this.#blobs.delete(fileNameOf(name))) this.quarantined.push(fileNameOf(name))
  }

  async remove(names: readonly BlobName[]): Promise<void> {
    for (const file of names.map(fileNameOf)) this.#blobs.delete(file)
  }

  async list(after: BlobName | null, limit: number): Promise<readonly BlobName[]> {
    const from = after === null ? '' : fileNameOf(after)
    const files = [...this.#blobs.keys()].filter((file) => file > from).sort()
    return files.slice(0, limit).flatMap((file) => parseFileName(file) ?? [])
  }

  async usage(): Promise<DiskUsage> {
    return this.disk
  }

  /** Flips one bit of a stored byte. */
  async damage(name: BlobName): Promise<void> {
    const { bytes } = this.#get(name)
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1
  }

  async #holdsAlready(name: BlobName, expected: BlobContent): Promise<boolean> {
    const stored = this.#blobs.get(fileNameOf(name))
    if (stored === undefined) return false
    if (sha256(stored.bytes) !== stored.checksum) {
      await this.quarantine(name)
      return false
    }
    if (stored.checksum === expected.checksum && stored.size === expected.size) return true
    throw new BlobWriteError('name_taken', 'The name holds other bytes')
  }

  #get(name: BlobName): StoredBlob {
    const stored = this.#blobs.get(fileNameOf(name))
    if (stored === undefined) throw new BlobMissingError(`Blob "${name.id}" is not on this node`)
    return stored
  }
}
