/**
 * Blobs as files on the local disk, one file for each copy.
 *
 * Owns: the order that makes a write durable: temporary file, fdatasync, rename, fsync of the directory.
 * Knows nothing of: other nodes, when a blob may go.
 * Rule: after a failed fsync nobody knows what the disk holds, so the store calls `onFatal` once and acknowledges
 * nothing any more; only a restart, which reads from the disk itself, may trust it again.
 */
import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { BlobDamagedError, BlobMissingError, type BlobName } from '../types.ts'
import { encodeHeader } from './blob-header.ts'
import { BlobLayout, SHARDS, shardOf } from './blob-layout.ts'
import { assertBlobName, fileNameOf, isChecksum, parseFileName } from './blob-name.ts'
import { readContent, readRange, type BlobFile } from './blob-reader.ts'
import { BlobWriteError, type BlobContent, type BlobStore, type DiskUsage } from './blob-store.ts'
import { errorCode, systemFileOps, type FileOps } from './file-ops.ts'

/** Pieces from a socket are small; so many bytes go to the disk at once. One chunk in flight holds no more of them. */
const WRITE_BYTES = 512 * 1024

export interface DiskBlobStoreOptions {
  /** Absolute. Its parent must exist; everything in it belongs to the store. */
  readonly directory: string
  /** The disk cannot be trusted any more: stop the node. Called at most once. */
  readonly onFatal: (error: Error) => void
  readonly fileOps?: FileOps
}

export class DiskBlobStore implements BlobStore {
  readonly #layout: BlobLayout
  readonly #ops: FileOps
  readonly #onFatal: (error: Error) => void
  #failure: Error | null = null

  constructor(options: DiskBlobStoreOptions) {
    this.#layout = new BlobLayout(options.directory)
    this.#ops = options.fileOps ?? systemFileOps
    this.#onFatal = options.onFatal
  }

  /** Before anything else. Makes the directories durable and removes unfinished writes. */
  open(): Promise<void> {
    return this.#layout.prepare(this.#ops)
  }

  async write(name: BlobName, source: AsyncIterable<Uint8Array>, expected: BlobContent): Promise<void> {
    assertBlobName(name)
    assertContent(expected)
    this.#assertWorking()
    if (await this.#holdsAlready(name, expected)) return this.#syncShard(name)
    const temporary = this.#layout.nextTemporary()
    try {
      await this.#writeTemporary(temporary, source, { name, expected })
      await this.#disk(() => this.#ops.rename(temporary, this.#layout.pathOf(name)))
    } catch (cause) {
      await this.#discard(temporary, cause)
      throw cause
    }
    await this.#syncShard(name)
  }

  read(name: BlobName, start: number, end: number): AsyncIterable<Uint8Array> {
    return readRange(this.#file(name), start, end)
  }

  async stat(name: BlobName): Promise<BlobContent | null> {
    try {
      return await readContent(this.#file(name))
    } catch (cause) {
      if (cause instanceof BlobMissingError) return null
      throw cause
    }
  }

  async verify(name: BlobName): Promise<BlobContent> {
    const content = await readContent(this.#file(name))
    const hash = createHash('sha256')
    for await (const piece of this.read(name, 0, content.size)) hash.update(piece)
    if (hash.digest('hex') === content.checksum) return content
    throw new BlobDamagedError(`Blob "${fileNameOf(name)}" is damaged: its bytes do not match their checksum`)
  }

  async quarantine(name: BlobName): Promise<void> {
    const path = this.#layout.pathOf(name)
    try {
      await this.#ops.rename(path, this.#layout.nextQuarantine(name))
    } catch (cause) {
      if (errorCode(cause) === 'ENOENT') return
      throw cause
    }
    await this.#sync(() => this.#ops.syncDirectory(this.#layout.quarantineDirectory))
    await this.#syncShard(name)
  }

  async remove(names: readonly BlobName[]): Promise<void> {
    names.forEach(assertBlobName)
    for (const name of names) {
      try {
        await this.#ops.unlink(this.#layout.pathOf(name))
      } catch (cause) {
        if (errorCode(cause) === 'ENOENT') continue
        throw cause
      }
      await this.#syncShard(name)
    }
  }

  async list(after: BlobName | null, limit: number): Promise<readonly BlobName[]> {
    const afterFile = after === null ? '' : fileNameOf(after)
    const found: BlobName[] = []
    for (const shard of after === null ? SHARDS : SHARDS.slice(SHARDS.indexOf(shardOf(after)))) {
      const files = await this.#ops.listDirectory(this.#layout.shardDirectory(shard))
      for (const file of files.filter((one) => one > afterFile).sort()) {
        const name = parseFileName(file)
        if (name !== null && shardOf(name) === shard) found.push(name)
        if (found.length >= limit) return found
      }
    }
    return found
  }

  usage(): Promise<DiskUsage> {
    return this.#ops.diskUsage(this.#layout.root)
  }

  // ---------------------------------------------------------------------------------------------

  #file(name: BlobName): BlobFile {
    return { name, path: this.#layout.pathOf(name), ops: this.#ops }
  }

  /** Believes no header: a copy that answers for a write is read back in full, and put aside if it is damaged. */
  async #holdsAlready(name: BlobName, expected: BlobContent): Promise<boolean> {
    try {
      const found = await this.verify(name)
      if (found.size === expected.size && found.checksum === expected.checksum) return true
    } catch (cause) {
      if (cause instanceof BlobMissingError) return false
      if (!(cause instanceof BlobDamagedError)) throw cause
      await this.quarantine(name)
      return false
    }
    throw new BlobWriteError(
      'name_taken',
      `Cannot write blob "${fileNameOf(name)}": it holds other bytes already`,
    )
  }

  async #writeTemporary(
    path: string,
    source: AsyncIterable<Uint8Array>,
    blob: { readonly name: BlobName; readonly expected: BlobContent },
  ): Promise<void> {
    const file = await this.#disk(() => this.#ops.create(path))
    try {
      await this.#disk(() => this.#ops.append(file, [encodeHeader(blob.name, blob.expected)]))
      await this.#copy(file, source, blob)
      await this.#sync(() => this.#ops.syncFile(file))
    } finally {
      await file.close()
    }
  }

  async #copy(
    file: FileHandle,
    source: AsyncIterable<Uint8Array>,
    { name, expected }: { readonly name: BlobName; readonly expected: BlobContent },
  ): Promise<void> {
    const hash = createHash('sha256')
    let size = 0
    let gathered: Uint8Array[] = []
    let gatheredBytes = 0
    const write = async (): Promise<void> => {
      await this.#disk(() => this.#ops.append(file, gathered))
      gathered = []
      gatheredBytes = 0
    }
    for await (const piece of source) {
      size += piece.length
      if (size > expected.size) break
      hash.update(piece)
      gathered.push(piece)
      gatheredBytes += piece.length
      if (gatheredBytes >= WRITE_BYTES) await write()
    }
    await write()
    const blob = `blob "${fileNameOf(name)}"`
    if (size !== expected.size) {
      const found = size > expected.size ? 'more' : `${size}`
      throw new BlobWriteError(
        'size_mismatch',
        `Cannot write ${blob}: ${found} bytes instead of ${expected.size}`,
      )
    }
    if (hash.digest('hex') !== expected.checksum) {
      throw new BlobWriteError(
        'checksum_mismatch',
        `Cannot write ${blob}: its bytes do not match their checksum`,
      )
    }
  }

  /** The next start empties tmp anyway; a failure to remove is told beside its cause because it eats space until then. */
  async #discard(temporary: string, cause: unknown): Promise<void> {
    try {
      await this.#ops.unlink(temporary)
    } catch (second) {
      if (errorCode(second) === 'ENOENT') return
      const causes = new AggregateError([cause, second], 'A write failed, and so did removing its file')
      throw new BlobWriteError('io_error', 'Cannot write a blob: the disk refuses', { cause: causes })
    }
  }

  #syncShard(name: BlobName): Promise<void> {
    return this.#sync(() => this.#ops.syncDirectory(this.#layout.shardDirectory(shardOf(name))))
  }

  async #sync(operation: () => Promise<void>): Promise<void> {
    this.#assertWorking()
    try {
      await operation()
    } catch (cause) {
      this.#fail(new Error('Cannot flush blobs to the disk', { cause }))
    }
    // Another write's fsync may have failed meanwhile; it may have swallowed the error that was ours.
    this.#assertWorking()
  }

  #fail(error: Error): void {
    if (this.#failure !== null) return
    this.#failure = error
    this.#onFatal(error)
  }

  #assertWorking(): void {
    if (this.#failure === null) return
    throw new BlobWriteError('store_failed', 'Cannot write a blob: an earlier flush failed', {
      cause: this.#failure,
    })
  }

  async #disk<T>(operation: () => Promise<T>): Promise<T> {
    try {
      return await operation()
    } catch (cause) {
      const full = errorCode(cause) === 'ENOSPC' || errorCode(cause) === 'EDQUOT'
      if (full) throw new BlobWriteError('disk_full', 'Cannot write a blob: the disk is full', { cause })
      throw new BlobWriteError('io_error', 'Cannot write a blob: the disk refuses', { cause })
    }
  }
}

function assertContent(expected: BlobContent): void {
  if (!Number.isSafeInteger(expected.size) || expected.size < 0) {
    throw new TypeError(`Invalid blob size ${String(expected.size)}`)
  }
  if (!isChecksum(expected.checksum))
    throw new TypeError('Invalid blob checksum: not 64 lower-case hex digits')
}
