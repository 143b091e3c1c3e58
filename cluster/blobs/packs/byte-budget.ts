/**
 * Bytes that may be in memory at once, given out in the order in which they were asked for.
 *
 * Rule: what was taken is given back on every path; nobody waits in a line that has no end.
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

  /** Throws Condition `slow_down` when too many wait already. Whoever asks for more than there is gets all of it, alone. */
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
      throw new Condition('slow_down', `Cannot write a blob: ${this.#waitersMax} wait already`)
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
