/**
 * Uploads with an idempotency key that run on this node now: a second one of the same name is asked to wait.
 *
 * Owns: the names. It spares work and nothing more: that a key takes effect once is decided in apply, regardless of what runs where.
 */
import { Condition } from '../../../cluster/index.ts'
import { Refusal } from '../../base/refusal.ts'

const WRITES_MAX = 10_000

export class WritesInProgress {
  readonly #names = new Set<string>()
  readonly #max: number

  constructor(max: number = WRITES_MAX) {
    this.#max = max
  }

  /** Throws Refusal idempotency_in_progress, Condition slow_down. */
  async alone<T>(name: readonly string[], write: () => Promise<T>): Promise<T> {
    const joined = JSON.stringify(name)
    if (this.#names.has(joined))
      throw new Refusal(
        'idempotency_in_progress',
        'An upload with this idempotency key is under way: ask again',
        { retryAfterSeconds: 1 },
      )
    if (this.#names.size >= this.#max)
      throw new Condition('slow_down', 'Too many uploads with idempotency keys are under way on this node')
    this.#names.add(joined)
    try {
      return await write()
    } finally {
      this.#names.delete(joined)
    }
  }
}
