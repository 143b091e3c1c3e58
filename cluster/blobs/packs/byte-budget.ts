/**
 * Limits the bytes that may be in memory at once, and grants them in the order of the requests.
 *
 * Rule: granted bytes are returned on every path, and the queue of waiters is bounded.
 */
import { Condition } from '../../base/types.ts'

interface Waiter {
  readonly bytes: number
  readonly take: () => void
}

export class ByteBudget {
  readonly #bytesMax: number
  readonly #waitersMax: number
  readonly #waiters: Waiter[] = []
  #left: number

  constructor(limits: { readonly bytes: number; readonly waitersMax: number }) {
    this.#bytesMax = limits.bytes
    this.#left = limits.bytes
    this.#waitersMax = limits.waitersMax
  }

  /** Throws Condition `slow_down` when too many wait already. A request for more than the whole budget gets the whole budget and runs by itself. */
  async run<T>(bytesAsked: number, work: () => Promise<T>): Promise<T> {
    const bytes = Math.min(bytesAsked, this.#bytesMax)
    if (this.#waiters.length === 0 && bytes <= this.#left) this.#left -= bytes
    else await this.#turn(bytes)
    try {
      return await work()
    } finally {
      this.#left += bytes
      this.#admit()
    }
  }

  #turn(bytes: number): Promise<void> {
    if (this.#waiters.length >= this.#waitersMax)
      throw new Condition('slow_down', `Cannot write a blob: ${this.#waitersMax} are already waiting`)
    return new Promise((take) => this.#waiters.push({ bytes, take }))
  }

  #admit(): void {
    for (let next = this.#waiters[0]; next && next.bytes <= this.#left; next = this.#waiters[0]) {
      this.#left -= next.bytes
      this.#waiters.shift()
      next.take()
    }
  }
}
