/**
 * Hunts a share of a choice of the mutants as a test: each at the seed, or with the test, that is known to kill it; when the simulation or the test
 * has changed and it no longer does, from seed 1 on, or with the whole file.
 *
 * Owns: which mutants belong to a share. The choice: all of them when proofs are played whole, else the first of each file. Rules: every canary and
 * every chosen mutant belongs to exactly one share; the shares are files of their own, because a file has a limit of time and the files of one run
 * share the processors.
 * `npm run mutants -- --json test/programs/mutants/known-seeds.json` writes the known seeds.
 */
import type { Test } from 'tap'
import { PLAYS_WHOLE } from '../../helpers/proof-size.ts'
import { allowMinutes } from '../simulator/time-limit.ts'
import { hunt, type Hunted, passes } from './hunter.ts'
import { readSeeds } from './known-seeds.ts'
import { readTests } from './known-tests.ts'
import type { Mutant } from './mutant.ts'
import { CANARIES, MUTANTS, MUTANTS_BY_FILE } from './mutants.ts'

const SHARES = 3
const SEEDS_MAX = 1000
const EVENTS = 20_000
/** On two idle cores the whole takes ten. */
const MINUTES_MAX = 30

const known = readSeeds(new URL('known-seeds.json', import.meta.url))
const tests = readTests(new URL('known-tests.json', import.meta.url))

async function hunted(mutant: Mutant): Promise<Hunted> {
  if (mutant.mustLive === true) return hunt(mutant, { firstSeed: 1, seeds: 3, events: EVENTS })
  const at = { firstSeed: known.get(mutant.id) ?? 1, seeds: 1, events: EVENTS }
  const only = tests.get(mutant.id)
  const first = await hunt(mutant, only === undefined ? at : { ...at, only })
  if (first.seed !== null) return first
  if (typeof mutant.killers !== 'string') return only === undefined ? first : hunt(mutant, at)
  return hunt(mutant, { firstSeed: 1, seeds: SEEDS_MAX, events: EVENTS })
}

/** `share`: 1 to SHARES. */
export function huntShare(t: Pick<Test, 'test' | 'setTimeout'>, share: 1 | 2 | 3): void {
  allowMinutes(t, MINUTES_MAX)
  const chosen = PLAYS_WHOLE ? MUTANTS : MUTANTS_BY_FILE.flatMap((mutants) => mutants.slice(0, 1))
  const all = [...CANARIES, ...chosen].filter((_, place) => place % SHARES === share - 1)
  const timeout = MINUTES_MAX * 60_000
  void t.test(
    `mutants die, and canaries behave as expected: share ${share} of ${SHARES}`,
    { timeout },
    async (t) => {
      for (const mutant of all) {
        const { seed, why } = await hunted(mutant)
        const isRight = (seed === null) === (mutant.mustLive === true)
        t.ok(isRight, `${mutant.id} (${mutant.bug}): ${why}`)
      }
    },
  )
  void t.test('their known tests pass individually without a bug', { timeout }, async (t) => {
    const passed = new Map<string, Promise<boolean>>()
    for (const { id } of all) {
      const known = tests.get(id)
      if (known === undefined) continue
      const name = JSON.stringify(known)
      const outcome = passed.get(name) ?? passes(known)
      passed.set(name, outcome)
      t.ok(await outcome, `${id}: ${known.path.join(' > ')}`)
    }
  })
}
