/**
 * One random interleaving: a seed decides the scope, the faults, and every step.
 *
 * Rule: equal seeds take equal steps; the hash of the steps distinguishes interleavings.
 */
import { Random } from '../simulator/random.ts'
import { checkAtRest, checkCopies } from './invariants.ts'
import { perform } from './perform.ts'
import { quiesce } from './quiesce.ts'
import { type Step, stepsOf } from './steps.ts'
import { ALL_RULES, newWorld, type Rules, type Scope } from './world.ts'

const STEPS_MAX = 110
const PLAIN = { versioning: 'Unversioned', hasUpload: false } as const

export interface Run {
  readonly steps: number
  readonly hash: number
}

/** Throws when a promise is broken; `trace` gets every step. */
export function runSeed(seed: number, rules: Rules = ALL_RULES, trace?: (step: Step) => void): Run {
  const random = new Random(seed, 'garbage')
  const world = newWorld(versionsOf(scopeOf(random), new Random(seed, 'garbage versions')), rules)
  // Some kinds of steps are rare in one run and frequent in another.
  const weights = new Map<Step['do'], number>()
  const weightOf = (step: Step): number => {
    let weight = weights.get(step.do)
    if (weight === undefined) weights.set(step.do, (weight = random.pick([0.05, 0.3, 1, 1, 3])))
    return weight
  }
  const hash = new Fingerprint()
  let steps = 0
  for (; steps < STEPS_MAX; steps++) {
    const choices = stepsOf(world)
    if (choices.length === 0) break
    const step = weighted(choices, weightOf, random)
    trace?.(step)
    hash.add(choices.indexOf(step))
    perform(world, step)
    checkCopies(world)
  }
  quiesce(world)
  checkAtRest(world)
  return { steps, hash: hash.value }
}

/** Half of the runs are without versions and parts, as they are about copies. */
function versionsOf(scope: Scope, random: Random): Scope {
  const versioning = random.chance(0.5) ? 'Enabled' : 'Unversioned'
  const hasUpload = random.chance(0.6)
  if (random.chance(0.5)) return scope
  const versions = 1 + random.below(4)
  const uploads = scope.budget.uploads + (hasUpload ? 2 : 0)
  return { ...scope, versioning, hasUpload, budget: { ...scope.budget, uploads, versions } }
}

function scopeOf(random: Random): Scope {
  const upTo = (most: number) => random.below(most + 1)
  const sometimes = (most: number) => (random.chance(0.5) ? 0 : 1 + upTo(most - 1))
  const faults = {
    crashes: sometimes(2),
    rollbacks: random.chance(0.3) ? 1 : 0,
    losses: sometimes(4),
    unknowns: sometimes(4),
    faults: sometimes(2),
    closes: sometimes(2),
    collections: Infinity,
    releases: Infinity,
    advances: Infinity,
    versions: 0,
  }
  // Repeated moves of copies on one node need several moves in a row, which uploads would only crowd out.
  if (random.chance(0.4)) {
    const budget = { ...faults, uploads: upTo(2), deletes: upTo(1), moves: 2 + upTo(3), cancels: upTo(3) }
    const copies = 1 + upTo(1)
    return { ...PLAIN, nodes: 3, gateways: 1, contents: 1, copiesMin: copies, existingCopies: copies, budget }
  }
  const budget = {
    ...faults,
    uploads: 1 + upTo(4),
    deletes: sometimes(3),
    moves: sometimes(3),
    cancels: sometimes(2),
  }
  return {
    ...PLAIN,
    nodes: 2 + upTo(1) + (random.chance(0.2) ? 1 : 0),
    gateways: 1 + upTo(1),
    contents: 1 + (random.chance(0.3) ? 1 : 0),
    copiesMin: 1 + upTo(1),
    existingCopies: 0,
    budget,
  }
}

function weighted(steps: readonly Step[], weightOf: (step: Step) => number, random: Random): Step {
  let left = steps.reduce((sum, step) => sum + weightOf(step), 0) * random.fraction()
  for (const step of steps) {
    left -= weightOf(step)
    if (left <= 0) return step
  }
  return steps.at(-1) as Step
}

/** 53 bits of the steps taken, so that among a million interleavings hardly two different ones look equal. */
class Fingerprint {
  #one = 0x811c9dc5
  #two = 0x9e3779b9

  add(value: number): void {
    this.#one = Math.imul(this.#one ^ value, 0x01000193)
    this.#two = Math.imul((this.#two << 5) ^ (this.#two >>> 27) ^ value, 0x85ebca6b)
  }

  get value(): number {
    return (this.#one >>> 0) * 2 ** 21 + (this.#two >>> 11)
  }
}
