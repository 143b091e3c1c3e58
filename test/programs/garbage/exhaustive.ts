/**
 * Every interleaving of a small scope, depth first; worlds that are equal are explored once.
 *
 * Owns: the search, and the count of interleavings that it covers. Rule: a world is checked before it is remembered,
 * and a world without further steps is quiesced and checked again.
 */
import { worldKey } from './world-key.ts'
import { checkAtRest, checkCopies } from './invariants.ts'
import { perform } from './perform.ts'
import { quiesce } from './quiesce.ts'
import { type Step, stepsOf } from './steps.ts'
import { ALL_RULES, copyWorld, newWorld, type Rules, type Scope, type World } from './world.ts'

export interface Explored {
  readonly worlds: number
  /** Paths from the first world to one without further steps; cycles are not counted. */
  readonly interleavings: number
  /** False: the bound on worlds was met, and the rest was not explored. */
  readonly isWhole: boolean
}

/** A broken promise, with the steps that led to it. */
export class BrokenPromise extends Error {
  override readonly name = 'BrokenPromise'
}

export function explore(scope: Scope, worldsMax: number, rules: Rules = ALL_RULES): Explored {
  return new Search(worldsMax).run(newWorld(scope, rules))
}

class Search {
  readonly #worldsMax: number
  /** Interleavings from each world; null while it is being explored. */
  readonly #known = new Map<string, number | null>()
  readonly #path: Step[] = []
  #isWhole = true

  constructor(worldsMax: number) {
    this.#worldsMax = worldsMax
  }

  run(world: World): Explored {
    try {
      const interleavings = this.#from(world)
      return { worlds: this.#known.size, interleavings, isWhole: this.#isWhole }
    } catch (cause) {
      const steps = this.#path.map((step) => JSON.stringify(step)).join('\n')
      throw new BrokenPromise(`${(cause as Error).message}\nafter\n${steps}`, { cause })
    }
  }

  #from(world: World): number {
    const key = worldKey(world)
    const known = this.#known.get(key)
    if (known !== undefined) return known ?? 0
    if (this.#known.size >= this.#worldsMax) {
      this.#isWhole = false
      return 0
    }
    this.#known.set(key, null)
    const steps = stepsOf(world)
    let interleavings = 0
    for (const step of steps) interleavings += this.#after(world, step)
    if (steps.length === 0) {
      quiesce(world)
      checkAtRest(world)
      interleavings = 1
    }
    this.#known.set(key, interleavings)
    return interleavings
  }

  #after(world: World, step: Step): number {
    const next = copyWorld(world)
    this.#path.push(step)
    perform(next, step)
    checkCopies(next)
    const interleavings = this.#from(next)
    this.#path.pop()
    return interleavings
  }
}
