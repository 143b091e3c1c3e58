/**
 * What a failed flush means, for everything on one disk.
 *
 * Owns: the memory of the first failure. Knows nothing of: what is flushed.
 * Rule: after a failed fsync nobody knows what the disk holds, so `onFatal` is called once and nothing is acknowledged
 * any more; only a restart, which reads from the disk itself, may trust it again.
 */
import { BlobWriteError } from './blob-store.ts'

export class FlushGuard {
  readonly #onFatal: (error: Error) => void
  #failure: Error | null = null

  constructor(onFatal: (error: Error) => void) {
    this.#onFatal = onFatal
  }

  /** Throws BlobWriteError `store_failed` once a flush has failed, this one or any other. */
  async sync(operation: () => Promise<void>): Promise<void> {
    this.assertWorking()
    try {
      await operation()
    } catch (cause) {
      this.#fail(new Error('Cannot flush blobs to the disk', { cause }))
    }
    // Another write's fsync may have failed meanwhile; it may have swallowed the error that was ours.
    this.assertWorking()
  }

  assertWorking(): void {
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
