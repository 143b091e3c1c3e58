/**
 * Wraps any FileOps and detects a disk that fails repeatedly.
 *
 * Owns: the run of consecutive failures, the times of the last flushes. Knows nothing of: what the operations are for.
 * Rule: several consecutive failures, each on another file or of another kind, make the disk suspect until the next start; one
 * bad sector that is read repeatedly does not. A success ends the run, but a suspect disk stays suspect. A single failure, and flushes
 * that take long, are a reason to doubt the disk: that is shown and changes nothing.
 */
import { errorCode, type FileOps, type OpenFile } from '../../base/file-ops.ts'
import type { DiskDoubt } from '../../base/types.ts'

export const FAILURES_MAX = 3
const FAILURES_OF_THE_DISK: ReadonlySet<string | undefined> = new Set(['EIO', 'EROFS', 'ENXIO', 'EUCLEAN'])

const FLUSHES_KEPT = 32
/** A spinning disk flushes in about 10 ms; one that repeats sectors takes seconds. ms */
const SLOW_FLUSH_MS = 1_000

export class DiskHealth {
  readonly #failuresMax: number
  readonly #now: () => number
  readonly #run = new Set<string>()
  /** The oldest first. ms */
  readonly #flushes: number[] = []
  #isSuspect = false
  #hasFailed = false

  /** `now`: monotonic milliseconds. Absent: flushes are not measured. */
  constructor(failuresMax: number, now: () => number = () => 0) {
    this.#failuresMax = failuresMax
    this.#now = now
  }

  /** Half of the last flushes were slow; a single one says nothing. */
  get doubt(): DiskDoubt | null {
    if (this.#hasFailed) return 'errors'
    const slow = this.#flushes.filter((ms) => ms >= SLOW_FLUSH_MS).length
    return 2 * slow >= FLUSHES_KEPT ? 'slow_flushes' : null
  }

  async flush<T>(subject: string, operation: () => Promise<T>): Promise<T> {
    const began = this.#now()
    const result = await this.watch(subject, operation)
    this.#flushes.push(this.#now() - began)
    if (this.#flushes.length > FLUSHES_KEPT) this.#flushes.shift()
    return result
  }

  get isSuspect(): boolean {
    return this.#isSuspect
  }

  /** `subject` identifies the operation and its file. */
  async watch<T>(subject: string, operation: () => Promise<T>): Promise<T> {
    try {
      const result = await operation()
      this.#run.clear()
      return result
    } catch (cause) {
      if (FAILURES_OF_THE_DISK.has(errorCode(cause))) {
        this.#run.add(subject)
        this.#hasFailed = true
      }
      if (this.#run.size >= this.#failuresMax) this.#isSuspect = true
      throw cause
    }
  }
}

export function watchedFileOps(ops: FileOps, health: DiskHealth): FileOps {
  const watch = <T>(what: string, path: string, operation: () => Promise<T>) =>
    health.watch(`${what} ${path}`, operation)
  const opened = async (path: string, file: Promise<OpenFile>) => watchedFile(await file, path, health)
  return {
    create: (path) => watch('create', path, () => opened(path, ops.create(path))),
    createUncached: async (path) => {
      const file = await watch('create', path, () => ops.createUncached(path))
      return file === null ? null : watchedFile(file, path, health)
    },
    openForRead: (path) => watch('open', path, () => opened(path, ops.openForRead(path))),
    // These operations are watched at the file, which knows its path.
    append: (file, pieces) => ops.append(file, pieces),
    writeAt: (file, pieces, position) => ops.writeAt(file, pieces, position),
    truncate: (file, length) => ops.truncate(file, length),
    syncFile: (file) => ops.syncFile(file),
    syncDirectory: (path) => watch('sync', path, () => ops.syncDirectory(path)),
    rename: (from, to) => watch('rename', from, () => ops.rename(from, to)),
    unlink: (path) => watch('unlink', path, () => ops.unlink(path)),
    makeDirectory: (path) => watch('make', path, () => ops.makeDirectory(path)),
    listDirectory: (path) => watch('list', path, () => ops.listDirectory(path)),
    diskUsage: (path) => ops.diskUsage(path),
  }
}

function watchedFile(file: OpenFile, path: string, health: DiskHealth): OpenFile {
  return {
    read: (...range) => health.watch(`read ${path}`, () => file.read(...range)),
    writev: (...pieces) => health.watch(`write ${path}`, () => file.writev(...pieces)),
    truncate: (length) => health.watch(`truncate ${path}`, () => file.truncate(length)),
    datasync: () => health.flush(`flush ${path}`, () => file.datasync()),
    stat: () => file.stat(),
    close: () => file.close(),
  }
}
