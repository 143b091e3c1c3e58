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

export interface CallersOptions {
  readonly countMax: number
  /** Of a caller that only other nodes have seen. */
  readonly limitsOf: (name: string) => CallerLimits
}

export class Callers {
  readonly scope: Scope
  readonly #options: CallersOptions
  readonly #known = new Map<string, CallerUse>()

  constructor(scope: Scope, options: CallersOptions) {
    this.scope = scope
    this.#options = options
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
    if (this.#known.size >= this.#options.countMax) this.#forgetOne(nowMs)
    const made = new CallerUse({ scope: this.scope, name }, limits, nowMs)
    this.#known.set(name, made)
    return made
  }

  /** A caller that another node reports. */
  reported(name: string, nowMs: number): CallerUse {
    return this.#known.get(name) ?? this.of(name, this.#options.limitsOf(name), nowMs)
  }

  /** To be walked over after all others. */
  moveLast(callers: readonly CallerUse[]): void {
    for (const caller of callers) if (this.#known.delete(caller.name)) this.#known.set(caller.name, caller)
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
