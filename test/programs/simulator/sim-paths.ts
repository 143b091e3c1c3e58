/**
 * Which node reaches which, and how long a frame takes.
 *
 * Owns: partitions, clogs, delays, loss. Knows nothing of: the frames. Rule: a path is one direction of a link.
 */
import type { Random } from './random.ts'

export interface PathOptions {
  /** ms */
  readonly delayMinMs: number
  readonly delayMeanMs: number
  /** Share of frames that take far longer, and how much. */
  readonly tailRate: number
  readonly tailMs: number
  readonly lossRate: number
  /** Frames of one path never overtake each other. */
  readonly keepsOrder: boolean
}

export class SimPaths {
  readonly #random: Random
  readonly #count: number
  #options: PathOptions
  readonly #blocked: boolean[]
  /** Nothing arrives on this path before this time. */
  readonly #cloggedUntil: number[]
  readonly #lastArrival: number[]

  constructor(count: number, options: PathOptions, random: Random) {
    this.#count = count
    this.#options = options
    this.#random = random
    this.#blocked = Array.from({ length: count * count }, () => false)
    this.#cloggedUntil = this.#blocked.map(() => 0)
    this.#lastArrival = this.#blocked.map(() => 0)
  }

  isOpen(from: number, to: number): boolean {
    return this.#blocked[this.#at(from, to)] !== true
  }

  get blockedCount(): number {
    return this.#blocked.filter((isBlocked) => isBlocked).length
  }

  block(from: number, to: number): void {
    this.#blocked[this.#at(from, to)] = true
  }

  blockBoth(a: number, b: number): void {
    this.block(a, b)
    this.block(b, a)
  }

  clog(from: number, to: number, until: number): void {
    this.#cloggedUntil[this.#at(from, to)] = until
  }

  heal(): void {
    this.#blocked.fill(false)
    this.#cloggedUntil.fill(0)
    // As on new connections: frames in flight on the old ones may come late, and later frames do not wait for them.
    this.#lastArrival.fill(0)
  }

  /** No losses and no long delays from now on. */
  becomeCalm(): void {
    this.heal()
    this.#options = {
      ...this.#options,
      lossRate: 0,
      tailRate: 0,
      delayMeanMs: Math.min(this.#options.delayMeanMs, 3),
    }
  }

  isLost(): boolean {
    return this.#options.lossRate > 0 && this.#random.chance(this.#options.lossRate)
  }

  /** ms from now until a frame arrives that leaves now. */
  delay(from: number, to: number, now: number): number {
    const { delayMinMs, delayMeanMs, tailRate, tailMs, keepsOrder } = this.#options
    let delay = delayMinMs + this.#random.exponential(delayMeanMs)
    if (tailRate > 0 && this.#random.chance(tailRate)) delay += this.#random.exponential(tailMs)
    const at = this.#at(from, to)
    let arrival = Math.max(now + delay, (this.#cloggedUntil[at] ?? 0) + this.#random.exponential(delayMeanMs))
    if (keepsOrder) {
      arrival = Math.max(arrival, this.#lastArrival[at] ?? 0)
      this.#lastArrival[at] = arrival
    }
    return arrival - now
  }

  #at(from: number, to: number): number {
    return from * this.#count + to
  }
}
