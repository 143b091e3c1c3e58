/**
 * The callers that a node knows, by kind and name.
 *
 * Owns: which of them are remembered. Knows nothing of: their limits. Rule: memory is bounded; when it is full, a caller whose levels are
 * full is forgotten first, which loses nothing, then the one known longest that does nothing now.
 */
import type { CallerLimits } from '../config/types.ts'
import { CallerUse, type Scope } from './caller-use.ts'

/** Looked at when one has to go. */
const LOOKS_MAX = 64

export class Callers {
  readonly scope: Scope
  readonly #countMax: number
  readonly #known = new Map<string, CallerUse>()

  constructor(scope: Scope, countMax: number) {
    this.scope = scope
    this.#countMax = countMax
  }

  get size(): number {
    return this.#known.size
  }

  all(): IterableIterator<CallerUse> {
    return this.#known.values()
  }

  known(name: string): CallerUse | undefined {
    return this.#known.get(name)
  }

  of(name: string, limits: CallerLimits, nowMs: number): CallerUse {
    const known = this.#known.get(name)
    if (known !== undefined) return known
    if (this.#known.size >= this.#countMax) this.#forgetOne(nowMs)
    const made = new CallerUse({ scope: this.scope, name }, limits, nowMs)
    this.#known.set(name, made)
    return made
  }

  #forgetOne(nowMs: number): void {
    let looks = 0
    let idle: CallerUse | null = null
    for (const caller of this.#known.values()) {
      looks += 1
      if (caller.isAtRest(nowMs)) idle = caller
      else if (caller.running.requests === 0) idle ??= caller
      if (looks >= LOOKS_MAX || (idle !== null && idle === caller && caller.isAtRest(nowMs))) break
    }
    // All of them run: as many requests as callers are open, which the connections of the node bound.
    if (idle !== null) this.#known.delete(idle.name)
  }
}
