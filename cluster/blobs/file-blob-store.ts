/**
 * Blobs as files on the local disk, one file for each copy.
 *
 * Owns: the order that makes a write durable: temporary file, fdatasync, rename, fsync of the directory.
 * Knows nothing of: other nodes, packs, when a blob may go.
 * Rule: nothing is acknowledged before its name is durable, and nothing at all after a failed flush (flush-guard.ts).
 */
import { createHash } from 'node:crypto'
import { BlobDamagedError, BlobMissingError, type BlobName } from '../types.ts'
import { encodeHeader } from './blob-header.ts'
import { type BlobLayout, SHARDS, shardOf } from './blob-layout.ts'
import { assertBlobName, fileNameOf, parseFileName } from './blob-name.ts'
import { type BlobFile, readContent, readRange } from './blob-reader.ts'
import { type BlobContent, type BlobStore, BlobWriteError } from './blob-store.ts'
import { assertContent, ContentCheck } from './content-check.ts'
import { DirectorySyncs } from './directory-syncs.ts'
import { orRefusal } from './disk-refusals.ts'
import { errorCode, type FileOps, type OpenFile } from './file-ops.ts'
import type { FlushGuard } from './flush-guard.ts'
import { GatheredWrites } from './gathered-writes.ts'
import { holdsAlready } from './holds-already.ts'

/** What all stores of one disk share. */
export interface StoreParts {
  readonly layout: BlobLayout
  readonly ops: FileOps
  readonly guard: FlushGuard
}

export class FileBlobStore implements Omit<BlobStore, 'usage'> {
  readonly #layout: BlobLayout
  readonly #ops: FileOps
  readonly #guard: FlushGuard
  readonly #directories: DirectorySyncs

  constructor({ layout, ops, guard }: StoreParts) {
    this.#layout = layout
    this.#ops = ops
    this.#guard = guard
    this.#directories = new DirectorySyncs((path) => guard.sync(() => ops.syncDirectory(path)))
  }

  async write(name: BlobName, source: AsyncIterable<Uint8Array>, expected: BlobContent): Promise<void> {
    assertBlobName(name)
    assertContent(expected)
    this.#guard.assertWorking()
    if (await holdsAlready(this, name, expected)) return this.#syncShard(name)
    const temporary = this.#layout.nextTemporary()
    try {
      await this.#writeTemporary(temporary, source, { name, expected })
      await orRefusal(() => this.#ops.rename(temporary, this.#layout.pathOf(name)))
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
    await this.#directories.sync(this.#layout.quarantineDirectory)
    await this.#syncShard(name)
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

  /** Flushes each directory once, so that a batch costs as many flushes as it has shards. */
  async remove(names: readonly BlobName[]): Promise<void> {
    names.forEach(assertBlobName)
    const shards = new Set<string>()
    for (const name of names) {
      try {
        await this.#ops.unlink(this.#layout.pathOf(name))
        shards.add(shardOf(name))
      } catch (cause) {
        if (errorCode(cause) !== 'ENOENT') throw cause
      }
    }
    for (const shard of shards) await this.#directories.sync(this.#layout.shardDirectory(shard))
  }

  // ---------------------------------------------------------------------------------------------

  #file(name: BlobName): BlobFile {
    return { name, path: this.#layout.pathOf(name), ops: this.#ops }
  }

  async #writeTemporary(
    path: string,
    source: AsyncIterable<Uint8Array>,
    blob: { readonly name: BlobName; readonly expected: BlobContent },
  ): Promise<void> {
    const file = await orRefusal(() => this.#ops.create(path))
    try {
      await orRefusal(() => this.#ops.append(file, [encodeHeader(blob.name, blob.expected)]))
      await this.#copy(file, source, blob)
      await this.#guard.sync(() => this.#ops.syncFile(file))
    } finally {
      await file.close()
    }
  }

  async #copy(
    file: OpenFile,
    source: AsyncIterable<Uint8Array>,
    { name, expected }: { readonly name: BlobName; readonly expected: BlobContent },
  ): Promise<void> {
    const check = new ContentCheck(name, expected)
    const writes = new GatheredWrites(expected.size, (bytes) =>
      orRefusal(() => this.#ops.append(file, [bytes])),
    )
    try {
      for await (const piece of source) {
        check.add(piece)
        await writes.add(piece)
      }
      await writes.flush()
    } finally {
      writes.end()
    }
    check.finish()
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
    return this.#directories.sync(this.#layout.shardDirectory(shardOf(name)))
  }
}
