/**
 * One segment file that is being written.
 *
 * Owns: its descriptor, its size and the chain value of its last batch. Knows nothing of: when to roll over.
 * Rule: the file gets its real name only after everything written so far is durable, so a segment that can be seen
 * always has a whole head.
 */
import assert from 'node:assert/strict'
import type { FileOps } from './file-ops.ts'
import type { LoggedBatch } from './frame-format.ts'
import { encodeBatch } from './frame-format.ts'
import { TEMPORARY_SUFFIX } from './recovery.ts'
import type { SegmentHeader } from './segment-format.ts'
import { encodeSegmentHeader } from './segment-format.ts'

export class SegmentWriter {
  readonly number: number
  readonly path: string
  readonly #files: FileOps
  readonly #fd: number
  readonly #salt: number
  readonly #headBytes: number
  #size = 0
  #chain: number

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

  get isEmpty(): boolean {
    return this.#size === this.#headBytes
  }

  get chain(): number {
    return this.#chain
  }

  append(batch: LoggedBatch): void {
    const { bytes, chain } = encodeBatch(batch, { salt: this.#salt, chain: this.#chain })
    this.#write(bytes)
    this.#chain = chain
  }

  sync(): void {
    this.#files.fdatasync(this.#fd)
  }

  /** Makes the file and its name in `dir` durable. */
  publish(dir: string): void {
    this.#files.fsync(this.#fd)
    this.#files.rename(this.path + TEMPORARY_SUFFIX, this.path)
    this.#files.syncDir(dir)
  }

  close(): void {
    this.#files.close(this.#fd)
  }

  #write(bytes: Buffer): void {
    for (let done = 0; done < bytes.length; ) {
      const count = this.#files.write(this.#fd, bytes.subarray(done), this.#size)
      // A full disk first writes less than asked and then fails; a file system that does neither would spin here.
      assert(count > 0, 'a write makes progress or throws')
      done += count
      this.#size += count
    }
  }
}
