/**
 * Room on the disk that is set aside in good times and given up when the disk is full.
 *
 * Owns: the file `reserve` in the log's directory. Knows nothing of: segments.
 * Rule: a write that found no room was neither flushed nor acknowledged, so the same write at the same place may be
 * tried once more. A flush is never tried again, and neither is anything after the reserve has gone.
 */
import { join } from 'node:path'
import type { FileOps } from './file-ops.ts'
import { TEMPORARY_SUFFIX, writeAll } from './file-ops.ts'
import { MeasuredFileOps } from './measured-file-ops.ts'
import { isDiskFull } from './wal-errors.ts'

export interface ReserveOptions {
  readonly dir: string
  /** 0: none. */
  readonly bytes: number
  /** Called once, when the reserve has been given up. */
  readonly onReleased: () => void
}

const NAME = 'reserve'
const STEP_BYTES = 1024 * 1024

/** Counts what the log costs; a write or a new file that finds no room is tried again without the reserve. */
export class ReservedFileOps extends MeasuredFileOps {
  readonly #files: FileOps
  readonly #reserve: ReserveOptions
  #isHeld = false

  constructor(files: FileOps, now: () => number, reserve: ReserveOptions) {
    super(files, now)
    this.#files = files
    this.#reserve = reserve
  }

  /** One from an earlier start serves before a new one can be made. */
  findReserve(): void {
    const { dir, bytes } = this.#reserve
    this.#isHeld = bytes > 0 && this.#files.list(dir).includes(NAME)
    this.#note()
  }

  /** Makes it where there is room; a log without a reserve works as well, until the disk is full. */
  makeReserve(): void {
    const { dir, bytes } = this.#reserve
    if (bytes === 0) return
    const path = join(dir, NAME)
    if (this.#isHeld && this.#files.size(path) === bytes) return
    if (this.#isHeld) this.#files.unlink(path)
    this.#isHeld = this.#allocate(path + TEMPORARY_SUFFIX)
    if (this.#isHeld) this.#files.rename(path + TEMPORARY_SUFFIX, path)
    this.#files.syncDir(dir)
    this.#note()
  }

  override create(path: string): number {
    return this.#withRoom(() => super.create(path))
  }

  override write(fd: number, bytes: Uint8Array, position: number): number {
    return this.#withRoom(() => super.write(fd, bytes, position))
  }

  #withRoom<T>(action: () => T): T {
    try {
      return action()
    } catch (error) {
      if (!this.#isHeld || !isDiskFull(error)) throw error
      this.#release()
      return action()
    }
  }

  #release(): void {
    const { dir, onReleased } = this.#reserve
    this.#isHeld = false
    this.#files.unlink(join(dir, NAME))
    // Some file systems give the room back only after this.
    this.#files.syncDir(dir)
    this.#note()
    onReleased()
  }

  #note(): void {
    this.noteReserve(this.#isHeld ? this.#reserve.bytes : 0)
  }

  /** Written, not only promised: a file with holes keeps no room. False when there is none. */
  #allocate(path: string): boolean {
    try {
      const fd = this.#files.create(path)
      try {
        const zeros = new Uint8Array(STEP_BYTES)
        for (let position = 0; position < this.#reserve.bytes; position += STEP_BYTES) {
          const bytes = zeros.subarray(0, this.#reserve.bytes - position)
          writeAll(this.#files, fd, { bytes, position })
        }
        this.#files.fsync(fd)
        return true
      } finally {
        this.#files.close(fd)
      }
    } catch (error) {
      if (!isDiskFull(error)) throw error
      if (this.#files.list(this.#reserve.dir).includes(NAME + TEMPORARY_SUFFIX)) this.#files.unlink(path)
      return false
    }
  }
}
