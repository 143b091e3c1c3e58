/**
 * Blobs as files on the local disk, one file for each copy.
 *
 * Owns: the order that makes a write durable: temporary file, fdatasync, rename, fsync of the directory.
 * Knows nothing of: other nodes, packs, when a blob may be removed.
 * Rule: no write is acknowledged before its name is durable, and none at all after a failed flush (flush-guard.ts).
 */
import { createHash } from 'node:crypto'
import { BlobDamagedError, BlobMissingError, type BlobName } from '../../base/types.ts'
import { encodeHeader, HEADER_BYTES } from '../base/blob-header.ts'
import { type BlobLayout, SHARDS, shardOf } from './blob-layout.ts'
import { assertBlobName, fileNameOf, parseFileName } from '../base/blob-name.ts'
import { type BlobFile, readContent, readRange } from '../base/blob-reader.ts'
import {
  type BlobContent,
  type BlobStore,
  BlobWriteError,
  type ExpectedContent,
  type SizedName,
} from '../base/blob-store.ts'
import { assertContent, ContentCheck } from '../base/content-check.ts'
import { DirectorySyncs } from './directory-syncs.ts'
import { orRefusal } from '../base/disk-refusals.ts'
import { BlockMemories } from '../../base/block-memory.ts'
import { errorCode, type FileOps, type OpenFile } from '../../base/file-ops.ts'
import type { FlushGuard } from './flush-guard.ts'
import { GatheredWrites } from './gathered-writes.ts'
import { holdsAlready } from '../base/holds-already.ts'
import { placeAfter, ShardListings } from './shard-listings.ts'
import { UncachedWrites } from './uncached-writes.ts'
import { WholeBytes } from '../base/whole-bytes.ts'

/** Directories that one removal flushes at the same time: the rest of the thread pool stays available. */
const SYNCS_AT_ONCE = 2

/**
 * Blobs of this size and more are written without the page cache (docs/adr/0105-large-bodies-memory-and-idle.md). Smaller ones are
 * likely to be read soon, and what they would save is little. Bytes.
 */
const DIRECT_IO_FROM_BYTES = 1024 * 1024
/** Bytes of one write, and of the memory that each blob in flight has for it. */
const UNCACHED_WRITE_BYTES = 512 * 1024
/** Kept for the next blobs: memory that is mapped again costs as much as its copy. */
const MEMORIES_KEPT = 8

/** Shared by all stores of one disk. */
export interface StoreParts {
  readonly layout: BlobLayout
  readonly ops: FileOps
  readonly guard: FlushGuard
  /** As of ClusterOptions. */
  readonly directIoFromBytes?: number | undefined
}

interface Incoming {
  readonly name: BlobName
  readonly expected: ExpectedContent
}

interface OpenTemporary {
  readonly file: OpenFile
  /** Written without the page cache. */
  readonly isUncached: boolean
}

export class FileBlobStore implements Omit<BlobStore, 'usage'> {
  readonly #layout: BlobLayout
  readonly #ops: FileOps
  readonly #guard: FlushGuard
  readonly #directories: DirectorySyncs
  readonly #listings: ShardListings
  readonly #memories = new BlockMemories(UNCACHED_WRITE_BYTES, MEMORIES_KEPT)
  /** Infinity: none, or such a write was refused. */
  #directIoFromBytes: number

  constructor({ layout, ops, guard, directIoFromBytes = DIRECT_IO_FROM_BYTES }: StoreParts) {
    this.#directIoFromBytes = directIoFromBytes
    this.#layout = layout
    this.#ops = ops
    this.#guard = guard
    this.#listings = new ShardListings((shard) => ops.listDirectory(layout.shardDirectory(shard)))
    this.#directories = new DirectorySyncs((path) => guard.sync(() => ops.syncDirectory(path)))
  }

  async write(name: BlobName, source: AsyncIterable<Uint8Array>, expected: ExpectedContent): Promise<void> {
    assertBlobName(name)
    assertContent(expected)
    this.#guard.assertWorking()
    if (await holdsAlready(this, name, expected)) return this.#syncShard(name)
    await this.writeNew(name, source, expected)
  }

  async writeNew(
    name: BlobName,
    source: AsyncIterable<Uint8Array>,
    expected: ExpectedContent,
  ): Promise<void> {
    assertBlobName(name)
    assertContent(expected)
    this.#guard.assertWorking()
    const temporary = this.#layout.nextTemporary()
    try {
      await this.#writeTemporary(temporary, source, { name, expected })
      await orRefusal(() => this.#ops.rename(temporary, this.#layout.pathOf(name)))
      this.#listings.forget(shardOf(name))
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

  /** Compares only the names in the directories, so the caller must know that the last stop was clean. */
  async areUnchanged(copies: readonly SizedName[]): Promise<readonly boolean[]> {
    const there = new Map<string, boolean>()
    for (const copy of copies.toSorted((one, other) => (one.id < other.id ? -1 : 1))) {
      const fileName = fileNameOf(copy)
      const files = await this.#listings.of(shardOf(copy))
      there.set(fileName, files[placeAfter(files, fileName) - 1] === fileName)
    }
    return copies.map((copy) => there.get(fileNameOf(copy)) === true)
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
      this.#listings.forget(shardOf(name))
    } catch (cause) {
      if (errorCode(cause) === 'ENOENT') return
      throw cause
    }
    await this.#directories.sync(this.#layout.quarantineDirectory)
    await this.#syncShard(name)
  }

  /** Call when another directory has replaced this one. */
  forgetListings(): void {
    this.#listings.forgetAll()
  }

  async list(after: BlobName | null, limit: number): Promise<readonly BlobName[]> {
    const afterFile = after === null ? '' : fileNameOf(after)
    const found: BlobName[] = []
    for (const shard of after === null ? SHARDS : SHARDS.slice(SHARDS.indexOf(shardOf(after)))) {
      const files = await this.#listings.of(shard)
      for (let at = placeAfter(files, afterFile); at < files.length; at++) {
        const name = parseFileName(files[at] ?? '')
        if (name !== null && shardOf(name) === shard) found.push(name)
        if (found.length >= limit) return found
      }
    }
    return found
  }

  /** Flushes each changed directory once, so that a group costs as many flushes as it has shards; also when removing one of its files fails. */
  async remove(names: readonly BlobName[]): Promise<void> {
    names.forEach(assertBlobName)
    const shards = new Set<string>()
    const refusals: unknown[] = []
    for (const name of names) {
      try {
        await this.#ops.unlink(this.#layout.pathOf(name))
        this.#listings.forget(shardOf(name))
        shards.add(shardOf(name))
      } catch (cause) {
        if (errorCode(cause) !== 'ENOENT') refusals.push(cause)
      }
    }
    await this.#syncShards([...shards])
    if (refusals.length > 0)
      throw new AggregateError(refusals, `Cannot remove ${refusals.length} of ${names.length} blobs`)
  }

  // ---------------------------------------------------------------------------------------------

  #file(name: BlobName): BlobFile {
    return { name, path: this.#layout.pathOf(name), ops: this.#ops }
  }

  async #writeTemporary(path: string, source: AsyncIterable<Uint8Array>, blob: Incoming): Promise<void> {
    const uncached = await this.#createUncached(path, blob.expected.size)
    const file = uncached ?? (await orRefusal(() => this.#ops.create(path)))
    try {
      await this.#copy({ file, isUncached: uncached !== null }, source, blob)
      await this.#guard.sync(() => this.#ops.syncFile(file))
    } finally {
      await file.close()
    }
  }

  /** Null: through the page cache. */
  async #createUncached(path: string, size: number): Promise<OpenFile | null> {
    if (size < this.#directIoFromBytes) return null
    const file = await orRefusal(() => this.#ops.createUncached(path))
    if (file === null) this.#directIoFromBytes = Number.POSITIVE_INFINITY
    return file
  }

  async #copy(
    { file, isUncached }: OpenTemporary,
    source: AsyncIterable<Uint8Array>,
    { name, expected }: Incoming,
  ): Promise<void> {
    const content = new ContentCheck(name, expected)
    const check = (bytes: Uint8Array): void => content.add(bytes)
    const head = encodeHeader(name, expected)
    const writes = isUncached
      ? new UncachedWrites({
          head,
          check,
          memories: this.#memories,
          write: (blocks) => orRefusal(() => this.#appendUncached(file, blocks)),
        })
      : new GatheredWrites({
          head,
          check,
          sizeMax: expected.size,
          write: (pieces) => orRefusal(() => this.#ops.append(file, pieces)),
        })
    try {
      // A CRC of all the bytes takes no time that counts, and one write costs less than several.
      const isWhole = source instanceof WholeBytes && expected.crc32c !== undefined
      for await (const piece of isWhole ? [source.bytes] : source) await writes.add(piece)
      await writes.flush()
    } finally {
      writes.end()
    }
    content.finish()
    // Its last block was filled with zeros.
    if (isUncached) await orRefusal(() => this.#ops.truncate(file, HEADER_BYTES + expected.size))
  }

  /** A disk that takes only larger blocks than these fails one write; the next ones go through the cache. */
  async #appendUncached(file: OpenFile, blocks: Uint8Array): Promise<void> {
    try {
      await this.#ops.append(file, [blocks])
    } catch (cause) {
      if (errorCode(cause) === 'EINVAL') this.#directIoFromBytes = Number.POSITIVE_INFINITY
      throw cause
    }
  }

  /** The next start empties tmp anyway; a failed removal is reported with the original cause, because the file takes space until then. */
  async #discard(temporary: string, cause: unknown): Promise<void> {
    try {
      await this.#ops.unlink(temporary)
    } catch (second) {
      if (errorCode(second) === 'ENOENT') return
      const causes = new AggregateError([cause, second], 'A write failed, and so did removing its file')
      throw new BlobWriteError('io_error', 'Cannot write a blob: the disk returned an error', {
        cause: causes,
      })
    }
  }

  /** Every flush ends before a failure is reported. */
  async #syncShards(shards: readonly string[]): Promise<void> {
    for (let first = 0; first < shards.length; first += SYNCS_AT_ONCE) {
      const some = shards
        .slice(first, first + SYNCS_AT_ONCE)
        .map((shard) => this.#layout.shardDirectory(shard))
      const ends = await Promise.allSettled(some.map((path) => this.#directories.sync(path)))
      const failed = ends.find((end) => end.status === 'rejected')
      if (failed !== undefined) throw failed.reason
    }
  }

  #syncShard(name: BlobName): Promise<void> {
    return this.#directories.sync(this.#layout.shardDirectory(shardOf(name)))
  }
}
