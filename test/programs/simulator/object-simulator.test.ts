/**
 * Whole nodes that apply the state machine of the service, in a simulated world: clients race for every rule of apply, under
 * faults, and every answer must be the one that the order of the log requires.
 *
 * Rerun one seed with `npm run sim -- --machine objects --seed S --events M --trace`.
 */
import t from 'tap'
import { type Outcome, runSeed } from './run-seed.ts'
import type { Canary } from './sim-world.ts'
import { FAULTS, type Fault } from './swarm.ts'
import { leastInPart, shareOf } from '../../helpers/proof-size.ts'
import { allowMinutes } from './time-limit.ts'

const FIRST_SEED = 1326
const SEEDS_WHOLE = 24
const SEEDS = shareOf(SEEDS_WHOLE, 4)
/** The part of the whole proof that this run plays. */
const PART = SEEDS / SEEDS_WHOLE
const EVENTS = 15_000
/** A world with a bug is detected within this many seeds. */
const CANARY_SEEDS = 6
/** Most runs end before clients have seen the bug. */
const HISTORY_SEEDS = 60
const CONFIGURATIONS_MAX = 200_000
const MINUTES_MAX = 10
const OBJECTS = { machine: 'objects' } as const
/** Almost only reads and writes of few keys, so that a stale read is visible. */
const FEW_KEYS = { ...OBJECTS, nodes: 3, keys: 2, readShare: 0.7, thinkMs: 5, clientsPerNode: 3 }
/** Little stays in the logs, and rows are damaged; no other fault takes the one disk of three that may be spoiled. */
const FORGETFUL = {
  ...OBJECTS,
  nodes: 3,
  logKeepEntries: 2,
  tearsAnywhere: false,
  thinkMs: 20,
  weights: {
    ...(Object.fromEntries(FAULTS.map((fault) => [fault, 0])) as Record<Fault, number>),
    crash: 10,
    isolate: 10,
    heal: 10,
    damageRow: 20,
  },
}

allowMinutes(t, MINUTES_MAX)

t.test('simulator of objects', { timeout: MINUTES_MAX * 60_000 }, async (t) => {
  const outcomes: Outcome[] = []
  for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed += 1) {
    const outcome = await runSeed({ seed, events: EVENTS, judgeWith: CONFIGURATIONS_MAX, plan: OBJECTS })
    outcomes.push(outcome)
    const { violation, verdict } = outcome
    const again = `rerun: npm run sim -- --machine objects --seed ${seed} --events ${EVENTS} --trace`
    t.equal(violation, null, `every promise is kept in seed ${seed}; ${again}`)
    t.not(verdict?.startsWith('violation'), true, `one order explains the answers to clients in seed ${seed}`)
  }

  await t.test('puts every rule to the test', async (t) => {
    for (const [answer, least] of ANSWERS) {
      const count = outcomes.reduce((sum, { answers }) => sum + (answers[answer] ?? 0), 0)
      t.ok(count >= leastInPart(least, PART), `${answer}: ${count} times`)
    }
    for (const [figure, least] of FIGURES) {
      const sum = outcomes.reduce((total, { figures }) => total + figures[figure], 0)
      t.ok(sum >= leastInPart(least, PART), `${figure}: ${sum}`)
    }
  })

  await t.test('continues when states are damaged and replaced', async (t) => {
    const { violation, figures } = await runSeed({ seed: 1, events: EVENTS, plan: FORGETFUL })
    t.equal(violation, null)
    t.ok(figures.rebuilt >= 1, `${figures.rebuilt} states rebuilt`)
    t.ok(figures.snapshots >= 5, `${figures.snapshots} snapshots installed`)
  })

  for (const canary of ['staleRead', 'doubleApply'] satisfies Canary[]) {
    await t.test(`detects ${canary}`, async (t) => {
      const found: string[] = []
      for (let seed = 1; seed <= CANARY_SEEDS && found.length === 0; seed += 1) {
        const { violation } = await runSeed({ seed, events: EVENTS, canary, plan: FEW_KEYS })
        if (violation !== null) found.push(violation)
      }
      t.equal(found.length, 1, found[0] ?? `not within ${CANARY_SEEDS} seeds`)
    })
  }

  await t.test('shows a history without an order when reads do not wait', async (t) => {
    const shown: string[] = []
    for (let seed = 1; seed <= HISTORY_SEEDS && shown.length === 0; seed += 1) {
      const options = { seed, events: EVENTS, canary: 'staleRead', plan: FEW_KEYS } as const
      const { verdict } = await runSeed({ ...options, judgeWith: CONFIGURATIONS_MAX })
      if (verdict?.startsWith('violation') === true) shown.push(verdict)
    }
    t.match(shown[0], /^violation under r/, `not within ${HISTORY_SEEDS} seeds`)
  })

  await t.test('is the same run for the same seed', async (t) => {
    const one = await runSeed({ seed: 7, events: 3_000, plan: OBJECTS })
    const same = await runSeed({ seed: 7, events: 3_000, plan: OBJECTS, traceLines: 100 })
    t.equal(one.hash, same.hash)
    t.not(one.hash, (await runSeed({ seed: 7, events: 3_000, plan: { machine: 'registers' } })).hash)
  })
})

/** Over the seeds of the whole proof; each rule must accept and refuse. */
const ANSWERS: readonly (readonly [answer: string, least: number])[] = [
  ['putObject ok', 1_000],
  ['putObject precondition_failed', 50],
  ['deleteObject precondition_failed', 20],
  ['putObject quota_exceeded', 20],
  ['putPart quota_exceeded', 20],
  ['copyObject quota_exceeded', 5],
  ['deleteObject object_locked', 4],
  ['setObjectRetention ok', 20],
  ['setObjectRetention object_locked', 2],
  ['setObjectLegalHold ok', 20],
  ['putObject replayed', 5],
  ['putObject idempotency_conflict', 2],
  ['setBucketVersioning ok', 20],
  ['setBucketVersioning invalid_request', 3],
  ['setBucketVersioning invalid_bucket_state', 3],
  ['deleteObjects ok', 20],
  ['deleteBucket ok', 20],
  ['deleteBucket bucket_not_empty', 20],
  ['createBucket ok', 20],
  ['createBucket bucket_already_exists', 20],
  ['createTenant already_exists', 10],
  ['completeUpload ok', 40],
  ['completeUpload not_found', 20],
  ['completeUpload invalid_part', 1],
  ['abortUpload ok', 10],
  ['expire ok', 20],
  ['setBucketLifecycle ok', 20],
  ['applyLifecycleRule ok', 20],
  ['applyLifecycleRule expired', 3],
  ['applyLifecycleRule hidden', 3],
  ['applyLifecycleRule noncurrent', 5],
  ['applyLifecycleRule upload', 2],
  ['releaseDiscarded ok', 20],
  ['exchangeTenantKey ok', 5],
  ['exchangeTenantKey precondition_failed', 10],
  ['resealBodies ok', 10],
  ['endKeyExchange ok', 3],
  ['endKeyExchange precondition_failed', 20],
]

const FIGURES: readonly (readonly [figure: keyof Outcome['figures'], least: number])[] = [
  ['crashes', 50],
  ['partitions', 50],
  ['snapshots', 5],
  ['acknowledged', 4_000],
  ['reads', 1_000],
]
