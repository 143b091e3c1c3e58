/**
 * Wraps any FileOps and detects a disk that fails repeatedly.
 *
 * Owns: the run of consecutive failures. Knows nothing of: what the operations are for.
 * Rule: several consecutive failures, each on another file or of another kind, make the disk suspect until the next start; one
 * bad sector that is read repeatedly does not. A success ends the run, but a suspect disk stays suspect.
 */
import { errorCode, type FileOps, type OpenFile } from '../../base/file-ops.ts'

export const FAILURES_MAX = 3
const FAILURES_OF_THE_DISK: ReadonlySet<string | undefined> = new Set(['EIO', 'EROFS', 'ENXIO', 'EUCLEAN'])

export class DiskHealth {
  readonly #failuresMax: number
  readonly #run = new Set<string>()
  #isSuspect = false

  constructor(failuresMax: number) {
    this.#failuresMax = failuresMax
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
      if (FAILURES_OF_THE_DISK.has(errorCode(cause))) this.#run.add(subject)
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
    datasync: () => health.watch(`flush ${path}`, () => file.datasync()),
    stat: () => file.stat(),
    close: () => file.close(),
  }
}
