/**
 * One hand at a time on each copy of this node.
 *
 * Rule: who decides by what the disk or the committed rows say of a copy, and then writes, quarantines or removes it, holds its
 * lock from the look to the end of the act. What was seen before the lock was had is worth nothing.
 */
import type { BlobName } from '../types.ts'
import { fileNameOf } from './blob-name.ts'

export class CopyLocks {
  /** Settles when everybody who came so far is done. One entry for each copy in hand, so as many as there are callers at most. */
  readonly #turns = new Map<string, Promise<unknown>>()

  /** Runs `work` when all that asked before for the same copy have ended, however they ended. Not to be nested. */
  async hold<T>(name: BlobName, work: () => Promise<T>): Promise<T> {
    const key = fileNameOf(name)
    const result = (this.#turns.get(key) ?? Promise.resolve()).then(work)
    const turn = result.catch(() => undefined)
    this.#turns.set(key, turn)
    try {
      return await result
    } finally {
      if (this.#turns.get(key) === turn) this.#turns.delete(key)
    }
  }
}
