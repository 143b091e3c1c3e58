/**
 * The disk of the system with faults: as full as a test sets it, with limited free space, or failing.
 */
import { type FileOps, type OpenFile, systemFileOps } from '../../cluster/base/file-ops.ts'

const TOTAL_BYTES = 1024 ** 3

export class SpoiledDisk {
  /** The free bytes; removals free none. */
  bytesLeft = TOTAL_BYTES / 2
  /** It reports to be half empty, regardless of `bytesLeft`. */
  pretendsRoom = false
  /** Nothing can be opened, read or created. Flushes work, because a failed one ends the node. */
  isFailing = false

  /** More than `disk.stop_writing` is used, but writes succeed. */
  fillUp(): void {
    this.bytesLeft = TOTAL_BYTES * 0.06
  }

  makeRoom(): void {
    this.bytesLeft = TOTAL_BYTES / 2
  }

  get ops(): FileOps {
    return {
      ...systemFileOps,
      create: async (path) => this.#wrapped(await this.#unless(() => systemFileOps.create(path))),
      // Its partial writes are no whole blocks.
      createUncached: async () => null,
      openForRead: async (path) => this.#wrapped(await this.#unless(() => systemFileOps.openForRead(path))),
      diskUsage: async () => ({ totalBytes: TOTAL_BYTES, freeBytes: this.#freeBytes }),
    }
  }

  get #freeBytes(): number {
    return this.pretendsRoom ? TOTAL_BYTES / 2 : this.bytesLeft
  }

  #wrapped(file: OpenFile): OpenFile {
    return {
      read: (...range) => this.#unless(() => file.read(...range)),
      writev: (pieces, position) => this.#write(file, pieces, position),
      truncate: (length) => file.truncate(length),
      datasync: () => file.datasync(),
      stat: () => file.stat(),
      close: () => file.close(),
    }
  }

  /** A write that does not fit is partial, like on a real disk. */
  async #write(file: OpenFile, pieces: readonly Uint8Array[], position?: number) {
    const bytes = Buffer.concat(pieces)
    const fitting = bytes.subarray(0, this.bytesLeft)
    this.bytesLeft -= fitting.length
    if (fitting.length > 0) await this.#unless(() => file.writev([fitting], position))
    if (fitting.length < bytes.length) throw systemError('ENOSPC')
    return { bytesWritten: bytes.length }
  }

  #unless<T>(operation: () => Promise<T>): Promise<T> {
    return this.isFailing ? Promise.reject(systemError('EIO')) : operation()
  }
}

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: injected`), { code })
}
