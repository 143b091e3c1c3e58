/**
 * One lock for each copy of this node.
 *
 * Rule: code that reads the disk or the committed rows to decide about a copy, and then writes, quarantines or removes it, holds
 * the copy's lock from that reading to the end of the action. Anything read before the lock was held is no basis for a decision.
 */
import type { BlobName } from '../../base/types.ts'
import { fileNameOf } from '../base/blob-name.ts'

export class CopyLocks {
  /** Each promise settles when all work queued so far for the copy has ended. One entry for each locked copy: as many as the groups of all callers contain. */
  readonly #turns = new Map<string, Promise<unknown>>()

  /** Runs `work` when all earlier work on the same copy has ended, with or without an error. Not to be nested. */
  async hold<T>(name: BlobName, work: () => Promise<T>): Promise<T> {
    const key = fileNameOf(name)
    return this.#run([key], (this.#turns.get(key) ?? Promise.resolve()).then(work))
  }

  /**
   * Locks the names that no caller holds or waits for at this moment, and runs `work` with these names. A group never waits: one
   * copy that takes minutes to be made would block all the others.
   */
  async holdFree<T>(names: readonly BlobName[], work: (free: readonly BlobName[]) => Promise<T>): Promise<T> {
    const free = new Map<string, BlobName>()
    for (const name of names) {
      const key = fileNameOf(name)
      if (!this.#turns.has(key)) free.set(key, name)
    }
    return this.#run(
      [...free.keys()],
      Promise.resolve().then(() => work([...free.values()])),
    )
  }

  async #run<T>(keys: readonly string[], result: Promise<T>): Promise<T> {
    const turn = result.catch(() => undefined)
    for (const key of keys) this.#turns.set(key, turn)
    try {
      return await result
    } finally {
      for (const key of keys) if (this.#turns.get(key) === turn) this.#turns.delete(key)
    }
  }
}
