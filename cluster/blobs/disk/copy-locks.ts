/**
 * One hand at a time on each copy of this node.
 *
 * Rule: who decides by what the disk or the committed rows say of a copy, and then writes, quarantines or removes it, holds its
 * lock from the look to the end of the act. What was seen before the lock was had is worth nothing.
 */
import type { BlobName } from '../../base/types.ts'
import { fileNameOf } from '../base/blob-name.ts'

export class CopyLocks {
  /** Settles when everybody who came so far is done. One entry for each copy in hand: as many as the groups of all callers have. */
  readonly #turns = new Map<string, Promise<unknown>>()

  /** Runs `work` when all that asked before for the same copy have ended, however they ended. Not to be nested. */
  async hold<T>(name: BlobName, work: () => Promise<T>): Promise<T> {
    const key = fileNameOf(name)
    return this.#run([key], (this.#turns.get(key) ?? Promise.resolve()).then(work))
  }

  /**
   * Runs `work` under the locks of those of the names that nobody holds or waits for at this moment, and gives it these. A group never waits:
   * one copy that takes minutes to be made would hold up all the others.
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
