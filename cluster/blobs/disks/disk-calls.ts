/**
 * Calls to single disks, and when those that fail take a disk out.
 *
 * Owns: the run of failures of each store, where copies were found last. Knows nothing of: which disk is asked, and why.
 * Rules: a failure counts against the store that was asked and against no later one at the same directory; a write that ends on a disk
 * that failed meanwhile is none.
 */
import { BlobDamagedError, BlobMissingError, type BlobName } from '../../base/types.ts'
import { BlobWriteError } from '../base/blob-store.ts'
import type { DiskBlobStore } from '../disk/disk-blob-store.ts'
import type { DiskSet, OwnDisk } from './disk-set.ts'
import { LastPlaces } from './last-places.ts'

/** So many calls to one disk in a row that fail, other than by a missing or damaged copy, take it out. */
const FAILURES_MAX = 5

export class DiskCalls {
  readonly #set: DiskSet
  readonly #failures = new WeakMap<DiskBlobStore, number>()
  readonly places = new LastPlaces<OwnDisk>()

  constructor(set: DiskSet) {
    this.#set = set
  }

  async asked<T>(disk: OwnDisk, ask: (store: DiskBlobStore) => Promise<T>): Promise<T> {
    const { store } = disk
    if (store === null) throw new Error('This disk is out of use')
    try {
      const answer = await ask(store)
      this.succeeded(store)
      return answer
    } catch (cause) {
      this.failed(disk, store, cause)
      throw cause
    }
  }

  /** Stores a copy. A full disk, and a source that fails, say nothing about the disk. */
  async onto(disk: OwnDisk, name: BlobName, write: (store: DiskBlobStore) => Promise<void>): Promise<void> {
    const { store } = disk
    if (store === null) throw new BlobWriteError('io_error', 'Cannot write a blob: its disk is out of use')
    try {
      await write(store)
    } catch (cause) {
      const isOfDisk = cause instanceof BlobWriteError && ['io_error', 'store_failed'].includes(cause.code)
      if (isOfDisk) this.failed(disk, store, cause)
      throw cause
    }
    if (disk.store !== store || !disk.isSound)
      throw new BlobWriteError('io_error', 'Cannot write a blob: its disk was taken out of use')
    this.succeeded(store)
    this.places.note(name, disk)
  }

  succeeded(store: DiskBlobStore): void {
    this.#failures.delete(store)
  }

  /** What only a copy is to blame for says nothing about the disk. */
  failed(disk: OwnDisk, store: DiskBlobStore, cause: unknown): void {
    if (cause instanceof BlobMissingError || cause instanceof BlobDamagedError) return
    const failures = (this.#failures.get(store) ?? 0) + 1
    this.#failures.set(store, failures)
    if (failures >= FAILURES_MAX && disk.store === store) this.#set.fail(disk, cause)
  }
}
