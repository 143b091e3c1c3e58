/**
 * What a failed flush means, for everything on one disk.
 *
 * Owns: the memory of the first failure. Knows nothing of: what is flushed.
 * Rule: after a failed fsync nobody knows what the disk holds, so `onFatal` is called once and nothing is acknowledged
 * any more; only a restart, which reads from the disk itself, may trust it again. A directory that is gone before its flush
 * could begin is no failed flush: the write in hand fails, and nothing is known less of what was flushed before.
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

  /** For a part of the disk that may be given up: from then on its failures say nothing about the rest. */
  part(isGivenUp: () => boolean): FlushGuard {
    return new FlushGuard((error) => {
      if (!isGivenUp()) this.#fail(error)
    }, this)
  }

  /**
   * Throws BlobWriteError `store_failed` once a flush has failed, this one or any other, and `io_error` for a directory that
   * is gone.
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
    // Another write's fsync may have failed meanwhile; it may have swallowed the error that was ours.
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
