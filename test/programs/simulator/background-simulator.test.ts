/**
 * Whole nodes with the work that they do in the background, in a simulated world: replication to a second site and back, backups and prunes, under
 * faults of nodes, of disks, of the line between the sites and of that to the target.
 *
 * Rerun one seed with `npm run sim -- --machine background --seed S --events M --trace`.
 */
import t from 'tap'
import { leastInPart, shareOf } from '../../helpers/proof-size.ts'
import { type Outcome, runSeed } from './run-seed.ts'
import { allowMinutes } from './time-limit.ts'

const FIRST_SEED = 1
const SEEDS_WHOLE = 16
const SEEDS = shareOf(SEEDS_WHOLE, 4)
const PART = SEEDS / SEEDS_WHOLE
const EVENTS = 4_000
const MINUTES_MAX = 10
const BACKGROUND = { machine: 'background' } as const

allowMinutes(t, MINUTES_MAX)

t.test('simulator of work in the background', { timeout: MINUTES_MAX * 60_000 }, async (t) => {
  const outcomes: Outcome[] = []
  for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed += 1) {
    const outcome = await runSeed({ seed, events: EVENTS, plan: BACKGROUND })
    outcomes.push(outcome)
    const again = `rerun: npm run sim -- --machine background --seed ${seed} --events ${EVENTS} --trace`
    t.equal(outcome.violation, null, `every promise is kept in seed ${seed}; ${again}`)
  }

  await t.test('puts every rule to the test', async (t) => {
    for (const [figure, least] of FIGURES) {
      const sum = outcomes.reduce((total, { background }) => total + (background?.[figure] ?? 0), 0)
      t.ok(sum >= leastInPart(least, PART), `${figure}: ${sum}`)
    }
  })

  await t.test('is the same run for the same seed', async (t) => {
    const one = await runSeed({ seed: 7, events: 3_000, plan: BACKGROUND })
    const same = await runSeed({ seed: 7, events: 3_000, plan: BACKGROUND, traceLines: 100 })
    t.equal(one.hash, same.hash)
  })
})

/** Over the seeds of the whole proof. */
const FIGURES: readonly (readonly [figure: keyof NonNullable<Outcome['background']>, least: number])[] = [
  ['requests', 1_000],
  ['lies', 15],
  ['lost', 5],
  ['outages', 8],
  ['replicas', 200],
  ['conflicts', 50],
  ['backups', 8],
  ['prunes', 8],
]
