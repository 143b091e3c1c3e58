/**
 * Disk space that the log reserves in advance and releases when the disk is full.
 *
 * Owns: the file `reserve` in the log's directory. Knows nothing of: segments.
 * Rule: a write that found no space was neither flushed nor acknowledged, so the same write at the same place may be
 * tried once more. A flush is never tried again, and after the reserve is released no write is tried again. The reserve is made again
 * when twice its size is free, so that making it never fills the disk.
 */
import { join } from 'node:path'
import type { FileOps } from './file-ops.ts'
import { nodeFileOps, TEMPORARY_SUFFIX, writeAll } from './file-ops.ts'
import { MeasuredFileOps } from './measured-file-ops.ts'
import { isDiskFull } from './wal-errors.ts'

export interface ReserveOptions {
  readonly dir: string
  /** 0: no reserve. */
  readonly bytes: number
  /** Called each time the reserve was released. */
  readonly onReleased: () => void
}

const NAME = 'reserve'
/** Size of one step of a refill: written and flushed together. */
const STEP_BYTES = 8 * 1024 * 1024
const ZEROS = new Uint8Array(1024 * 1024)
/** The reserve is made only where this multiple of its size is free. */
const FREE_FACTOR = 2

interface Draft {
  readonly fd: number
  position: number
}

/** Counts disk operations; a write or a new file that finds no space is tried again after the reserve is released. */
export class ReservedFileOps extends MeasuredFileOps {
  readonly #files: FileOps
  readonly #reserve: ReserveOptions
  #isHeld = false
  #draft: Draft | null = null

  constructor(files: FileOps, now: () => number, reserve: ReserveOptions) {
    super(files, now)
    this.#files = files
    this.#reserve = reserve
  }

  /** Finds a reserve of an earlier start, which serves until a new one is made. */
  findReserve(): void {
    const { dir, bytes } = this.#reserve
    this.#isHeld = bytes > 0 && this.#files.list(dir).includes(NAME)
    this.#note()
  }

  /** Makes the reserve if there is space; a log without a reserve works as well, until the disk is full. */
  makeReserve(): void {
    const { dir, bytes } = this.#reserve
    if (bytes === 0) return
    const path = join(dir, NAME)
    if (this.#isHeld && this.#files.size(path) === bytes) return
    if (this.#isHeld) this.#files.unlink(path)
    this.#isHeld = false
    while (this.refillReserve()) continue
    this.#note()
  }

  /**
   * One step towards a reserve that was released, so that no other write waits long for the disk. True if another step must
   * follow: there is space, and the reserve is not whole.
   */
  refillReserve(): boolean {
    if (this.#isHeld || this.#reserve.bytes === 0) return false
    try {
      this.#draft ??= this.#begin()
      if (this.#draft === null) return false
      this.#isHeld = this.#extend(this.#draft)
    } catch (error) {
      if (!isDiskFull(error)) throw error
      this.#abandon()
      return false
    }
    if (this.#isHeld) this.#note()
    return !this.#isHeld
  }

  /** Releases the space for other users of this disk, before they find none. */
  releaseReserve(): void {
    this.#abandon()
    if (this.#isHeld) this.#release()
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
    // Some file systems free the space only after this.
    this.#files.syncDir(dir)
    this.#note()
    onReleased()
  }

  #note(): void {
    this.noteReserve(this.#isHeld ? this.#reserve.bytes : 0)
  }

  /** Null: with it too little space would be left for other users of the disk. */
  #begin(): Draft | null {
    const { dir, bytes } = this.#reserve
    if (this.#files.freeBytes(dir) < FREE_FACTOR * bytes) return null
    return { fd: this.#files.create(this.#draftPath), position: 0 }
  }

  /** Writes real bytes: a sparse file reserves no space. True when the reserve is whole. */
  #extend(draft: Draft): boolean {
    const { dir, bytes } = this.#reserve
    const end = Math.min(bytes, draft.position + STEP_BYTES)
    while (draft.position < end) {
      const zeros = ZEROS.subarray(0, end - draft.position)
      draft.position = writeAll(this.#files, draft.fd, { bytes: zeros, position: draft.position })
    }
    this.#files.fsync(draft.fd)
    if (end < bytes) return false
    this.#files.close(draft.fd)
    this.#draft = null
    this.#files.rename(this.#draftPath, join(dir, NAME))
    this.#files.syncDir(dir)
    return true
  }

  #abandon(): void {
    if (this.#draft !== null) this.#files.close(this.#draft.fd)
    this.#draft = null
    if (this.#files.list(this.#reserve.dir).includes(NAME + TEMPORARY_SUFFIX))
      this.#files.unlink(this.#draftPath)
  }

  get #draftPath(): string {
    return join(this.#reserve.dir, NAME + TEMPORARY_SUFFIX)
  }
}

function isHeldIn(dir: string, files: FileOps): boolean {
  try {
    return files.list(dir).includes(NAME)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false
    throw error
  }
}

/**
 * Releases the reserve before a node opens anything on a full disk: other files are opened before the log and would find no space.
 * Does nothing where there is free space or no reserve. True if it released the reserve.
 */
export function giveUpReserve(dir: string, leastFreeBytes: number, files: FileOps = nodeFileOps): boolean {
  if (!isHeldIn(dir, files) || files.freeBytes(dir) >= leastFreeBytes) return false
  files.unlink(join(dir, NAME))
  files.syncDir(dir)
  return true
}
