/**
 * The segment file that is being written.
 *
 * Owns: its descriptor, its size, the chain value and the record of its last batch. Knows nothing of: when to roll over.
 * Rule: the file gets its real name only after everything written so far is durable, so a segment with its real name
 * always has a whole head. The files that it replaces are deleted only after it has been read back.
 */
import { crc32c } from '@node-rs/crc32'
import type { BatchAddress } from './entry-index.ts'
import type { FileOps } from './file-ops.ts'
import { TEMPORARY_SUFFIX, writeAll } from './file-ops.ts'
import type { LoggedBatch } from './frame-format.ts'
import { encodeBatch } from './frame-format.ts'
import type { SegmentHeader } from './segment-format.ts'
import { encodeSegmentHeader } from './segment-format.ts'
import { WalWriteError } from './wal-errors.ts'

export class SegmentWriter {
  readonly number: number
  readonly path: string
  readonly #files: FileOps
  readonly #fd: number
  readonly #salt: number
  readonly #headBytes: number
  #size = 0
  #chain: number
  #lastRecord: Buffer | null = null
  /** CRC32C of all bytes that were written before the file got its name. */
  #check = 0
  #isPublished = false

  constructor(files: FileOps, path: string, header: SegmentHeader) {
    const { bytes, salt } = encodeSegmentHeader(header)
    this.number = header.number
    this.path = path
    this.#files = files
    this.#salt = salt
    this.#chain = salt
    this.#headBytes = bytes.length
    this.#fd = files.create(path + TEMPORARY_SUFFIX)
    this.#write(bytes)
  }

  get size(): number {
    return this.#size
  }

  /** Where the next batch will be written. */
  get next(): BatchAddress {
    const { path } = this
    return { path, salt: this.#salt, offset: this.#size, chain: this.#chain, isFirstFormat: false }
  }

  get isEmpty(): boolean {
    return this.#size === this.#headBytes
  }

  get chain(): number {
    return this.#chain
  }

  /** Null as long as it is empty. */
  get lastRecord(): Buffer | null {
    return this.#lastRecord
  }

  append(batch: LoggedBatch): void {
    const place = { salt: this.#salt, offset: this.#size, chain: this.#chain }
    const { bytes, record, chain } = encodeBatch(batch, place)
    this.#write(bytes)
    this.#lastRecord = record
    this.#chain = chain
  }

  sync(): void {
    this.#files.fdatasync(this.#fd)
  }

  /** Makes the file and its name in `dir` durable, and reads it back. */
  publish(dir: string): void {
    this.#files.fsync(this.#fd)
    this.#files.rename(this.path + TEMPORARY_SUFFIX, this.path)
    this.#files.syncDir(dir)
    this.#isPublished = true
    if (crc32c(this.#files.read(this.path, this.#size)) === this.#check) return
    throw new WalWriteError(`Cannot trust the disk: '${this.path}' reads differently from what was written`)
  }

  close(): void {
    this.#files.close(this.#fd)
  }

  #write(bytes: Buffer): void {
    this.#size = writeAll(this.#files, this.#fd, { bytes, position: this.#size })
    if (!this.#isPublished) this.#check = crc32c(bytes, this.#check)
  }
}
