/**
 * The consequences of a failed flush, for everything on one disk.
 *
 * Owns: the record of the first failure. Knows nothing of: what is flushed.
 * Rule: after a failed fsync the contents of the disk are unknown, so `onFatal` is called once and no write is acknowledged
 * any more; only a restart, which reads from the disk itself, may rely on it again. A directory that is gone before its flush
 * could start is not a failed flush: the current write fails, and earlier flushes remain valid.
 */
import { BlobWriteError } from '../base/blob-store.ts'
import { isGone } from '../../base/file-ops.ts'

export class FlushGuard {
  readonly #onFatal: (error: Error) => void
  readonly #whole: FlushGuard | null
  #failure: Error | null = null

  constructor(onFatal: (error: Error) => void, whole: FlushGuard | null = null) {
    this.#onFatal = onFatal
    this.#whole = whole
  }

  /** For a part of the disk that may be abandoned: once it is, its failures say nothing about the rest. */
  part(isGivenUp: () => boolean): FlushGuard {
    return new FlushGuard((error) => {
      if (!isGivenUp()) this.#fail(error)
    }, this)
  }

  /**
   * Throws BlobWriteError `store_failed` once any flush has failed, this one included, and `io_error` for a directory that is
   * gone.
   */
  async sync(operation: () => Promise<void>): Promise<void> {
    this.assertWorking()
    try {
      await operation()
    } catch (cause) {
      if (isGone(cause))
        throw new BlobWriteError('io_error', 'Cannot flush a blob: its directory is gone', { cause })
      this.#fail(new Error('Cannot flush blobs to the disk', { cause }))
    }
    // Another write's fsync may have failed meanwhile, and the error may have concerned these bytes: the system reports it only once.
    this.assertWorking()
  }

  assertWorking(): void {
    this.#whole?.assertWorking()
    if (this.#failure === null) return
    throw new BlobWriteError('store_failed', 'Cannot write a blob: an earlier flush failed', {
      cause: this.#failure,
    })
  }

  #fail(error: Error): void {
    if (this.#failure !== null) return
    this.#failure = error
    this.#onFatal(error)
  }
}
