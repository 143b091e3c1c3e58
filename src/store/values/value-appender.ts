/**
 * The end of the newest value file.
 *
 * Owns: where the next record goes, and that it is durable. Knows nothing of: which records count.
 * Rules: bytes are flushed before a place is returned, so a pointer never leads to bytes that a power cut takes back. A file that a crash may have torn
 * is never continued. After an error nothing more is appended.
 */
import { closeSync, fdatasync, mkdirSync, openSync, writeSync, writevSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { syncDirectory } from '../../../cluster/index.ts'
import { MAGIC, recordHead, type ValueRecord } from './value-format.ts'
import type { ValuePlace } from './value-readers.ts'

const flush = promisify(fdatasync)

export interface OpenEnd {
  readonly file: number
  readonly path: string
  /** Bytes; 0: the file does not exist yet. */
  readonly size: number
}

export class ValueAppender {
  readonly file: number
  readonly #descriptor: number
  #size: number

  private constructor({ file, size }: OpenEnd, descriptor: number) {
    this.file = file
    this.#size = size
    this.#descriptor = descriptor
  }

  /** The name of a new file is durable when this resolves. */
  static async open(end: OpenEnd): Promise<ValueAppender> {
    if (end.size > 0) return new ValueAppender(end, openSync(end.path, 'r+'))
    const directory = dirname(end.path)
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const appender = new ValueAppender(end, openSync(end.path, 'wx', 0o600))
    appender.#write([MAGIC])
    await syncDirectory(directory)
    await syncDirectory(dirname(directory))
    return appender
  }

  get size(): number {
    return this.#size
  }

  /** Into the page cache. The places are those of the values, in their order. */
  write(records: readonly ValueRecord[]): readonly ValuePlace[] {
    const parts: Uint8Array[] = []
    const places: ValuePlace[] = []
    let end = this.#size
    for (const { key, value } of records) {
      const head = recordHead(key, value.length)
      parts.push(head, value)
      places.push({ file: this.file, offset: end + head.length, length: value.length })
      end += head.length + value.length
    }
    this.#write(parts)
    return places
  }

  async flush(): Promise<void> {
    await flush(this.#descriptor)
  }

  close(): void {
    closeSync(this.#descriptor)
  }

  #write(parts: readonly Uint8Array[]): void {
    const wanted = parts.reduce((sum, { length }) => sum + length, 0)
    let written = writevSync(this.#descriptor, [...parts], this.#size)
    if (written < wanted) {
      // A write is cut short by a full disk, which the next one reports.
      const all = Buffer.concat(parts)
      while (written < wanted)
        written += writeSync(this.#descriptor, all, written, wanted - written, this.#size + written)
    }
    this.#size += wanted
  }
}
