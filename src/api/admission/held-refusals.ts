/**
 * Callers that are refused again and again: when their answers leave.
 *
 * Owns: the pace of refusals for each caller. Knows nothing of: why it is refused. Rules: the first refusals leave at once; beyond
 * them a caller gets so many a second, and the others are held back. A client that asks again as soon as it is refused so costs the node a connection and no
 * processor time. Memory is bounded by the connections of the node and `CALLERS_MAX`.
 */
import type { MetricSample } from '../../../cluster/index.ts'

/** Between two refusals of one caller that leave: 100 a second. */
const EVERY_MS = 10
/** The refusals of so much time may leave at once. */
const AT_ONCE_MS = 1000
/** The longest that one is held back: clients do not wait much longer for any answer. */
const HELD_MS_MAX = 10_000
const CALLERS_MAX = 10_000

export interface HeldRefusalsParts {
  /** Monotonic milliseconds. */
  readonly now: () => number
  readonly after: (ms: number, callback: () => void) => { cancel(): void }
}

export class HeldRefusals {
  readonly #parts: HeldRefusalsParts
  /** By caller, when its last refusal leaves; those that were known first come first. */
  readonly #leaving = new Map<string, number>()
  readonly #held = new Map<() => void, { cancel(): void }>()
  #heldTotal = 0

  constructor(parts: HeldRefusalsParts) {
    this.#parts = parts
  }

  /** For how long this refusal of the caller is held back, in milliseconds; 0: it leaves now. */
  heldMs(who: string): number {
    const nowMs = this.#parts.now()
    const before = this.#leaving.get(who)
    if (before === undefined && this.#leaving.size >= CALLERS_MAX) this.#forgetOldest()
    const atMs = Math.max(before ?? -Infinity, nowMs - AT_ONCE_MS) + EVERY_MS
    this.#leaving.set(who, Math.min(atMs, nowMs + HELD_MS_MAX))
    return Math.max(0, Math.min(atMs - nowMs, HELD_MS_MAX))
  }

  /** Calls it once: after this time, or when all are released. */
  hold(heldMs: number, leave: () => void): void {
    this.#heldTotal += 1
    const timer = this.#parts.after(heldMs, () => {
      if (this.#held.delete(leave)) leave()
    })
    this.#held.set(leave, timer)
  }

  /** Whose client is gone. */
  forget(leave: () => void): void {
    this.#held.get(leave)?.cancel()
    this.#held.delete(leave)
  }

  /** All leave now: the listener closes. */
  release(): void {
    for (const [leave, timer] of this.#held) {
      timer.cancel()
      this.#held.delete(leave)
      leave()
    }
  }

  samples(): readonly MetricSample[] {
    return [
      {
        name: 'holdfast_admission_held_refusals',
        help: 'Refusals that are held back now, because their caller is refused too often.',
        kind: 'gauge',
        value: this.#held.size,
      },
      {
        name: 'holdfast_admission_held_refusals_total',
        help: 'Refusals that were held back, because their caller is refused too often.',
        kind: 'counter',
        value: this.#heldTotal,
      },
    ]
  }

  #forgetOldest(): void {
    for (const who of this.#leaving.keys()) {
      this.#leaving.delete(who)
      return
    }
  }
}
