/**
 * The schedule: an endless sequence of strikes that follows only from a seed.
 *
 * Owns: the names of the nemeses, the choice among them, how long each holds. Pure.
 * Rule: each one asked for comes once before any comes again, so that a short run is a mixed one.
 */
import type { Random } from '../simulator/random.ts'

export const NEMESIS_NAMES = [
  'cut-pair',
  'isolate-leader',
  'isolate-random',
  'one-way',
  'delay',
  'loss',
  'kill',
  'kill-all',
  'pause',
  'full-disk',
  'all-disks-full',
  'slow-disk',
  'log-eio',
  'memory',
  'lost-copies',
  'restart',
  'members',
  'lost-directory',
  'rolled-back',
] as const

export type NemesisName = (typeof NEMESIS_NAMES)[number]

export interface Strike {
  readonly nemesis: NemesisName
  /** From when the fault is there until it is taken away. */
  readonly lengthMs: number
  /** Without any fault, behind it. */
  readonly restMs: number
  /** What the nemesis chooses by: victims, degrees. In [0, 1). */
  readonly choices: readonly [number, number]
}

/** From less than an election to far more than one. */
const LENGTHS_MS = [700, 1500, 2500, 4000, 6000]
const RESTS_MS = [200, 700, 1500]

export function* strikes(random: Random, nemeses: readonly NemesisName[]): Generator<Strike, never> {
  for (;;) {
    for (const nemesis of random.shuffle([...nemeses]))
      yield {
        nemesis,
        lengthMs: random.pick(LENGTHS_MS),
        restMs: random.pick(RESTS_MS),
        choices: [random.fraction(), random.fraction()],
      }
  }
}
