/**
 * Walks of membership: whole nodes with the driver, the directory and the operations of the service, operators who change their mind,
 * machines that come back from anywhere. No promise may be broken, and every operation must end.
 *
 * Rerun one walk with `npm run sim -- --machine members --seed S --events M --trace`.
 */
import t from 'tap'
import { type Outcome, runSeed } from './run-seed.ts'
import type { Canary } from './sim-world.ts'
import { leastInPart, shareOf } from '../../helpers/proof-size.ts'
import { allowMinutes } from './time-limit.ts'

const WALKS_WHOLE = 100
const WALKS = shareOf(WALKS_WHOLE, 40)
const EVENTS = 5_000
const MINUTES_MAX = 10
const MEMBERS = { machine: 'members' } as const
/** A world with a bug is detected within this many seeds. */
const CANARY_WALKS = 10

allowMinutes(t, MINUTES_MAX)

t.test('simulator of members', { timeout: MINUTES_MAX * 60_000 }, async (t) => {
  const outcomes: Outcome[] = []
  for (let seed = 1; seed <= WALKS; seed += 1) {
    const outcome = await runSeed({ seed, events: EVENTS, plan: MEMBERS })
    outcomes.push(outcome)
    if (outcome.violation === null) continue
    const again = `rerun: npm run sim -- --machine members --seed ${seed} --events ${EVENTS} --trace`
    t.fail(`seed ${seed}: ${outcome.violation}; ${again}`)
  }

  await t.test('changes the members in every way, and gets refusals', async (t) => {
    for (const [figure, least] of WALKED) {
      const sum = outcomes.reduce((total, { walk }) => total + (walk?.[figure] ?? 0), 0)
      t.ok(sum >= leastInPart(least * WALKS_WHOLE, WALKS / WALKS_WHOLE), `${figure}: ${sum}`)
    }
    for (const [answer, least] of ANSWERS) {
      const count = outcomes.reduce((sum, { answers }) => sum + (answers[answer] ?? 0), 0)
      t.ok(count >= leastInPart(least, WALKS / WALKS_WHOLE), `${answer}: ${count} times`)
    }
  })

  for (const canary of ['earlyAck', 'doubleApply'] satisfies Canary[]) {
    await t.test(`detects ${canary}`, async (t) => {
      const found: string[] = []
      for (let seed = 1; seed <= CANARY_WALKS && found.length === 0; seed += 1) {
        const { violation } = await runSeed({ seed, events: EVENTS, canary, plan: MEMBERS })
        if (violation !== null) found.push(violation)
      }
      t.equal(found.length, 1, found[0] ?? `not within ${CANARY_WALKS} walks`)
    })
  }

  await t.test('is the same walk for the same seed', async (t) => {
    const one = await runSeed({ seed: 7, events: 3_000, plan: MEMBERS })
    const same = await runSeed({ seed: 7, events: 3_000, plan: MEMBERS, traceLines: 100 })
    t.equal(one.hash, same.hash)
    t.not(one.hash, (await runSeed({ seed: 8, events: 3_000, plan: MEMBERS })).hash)
  })
})

/** At least this much of each in a walk, on average. */
const WALKED: readonly (readonly [figure: keyof NonNullable<Outcome['walk']>, least: number])[] = [
  ['started', 2],
  ['finished', 1],
  ['cancelled', 0.2],
  ['left', 0.2],
  ['denied', 5],
  ['emptied', 1],
  ['restored', 0.1],
]

/** Over the walks of the whole proof: every operation starts, and most get refusals. */
const ANSWERS: readonly (readonly [answer: string, least: number])[] = [
  ['join ok', 60],
  ['replace ok', 30],
  ['demote ok', 25],
  ['lost ok', 8],
  ['remove ok', 5],
  ['join membership_change_in_progress', 50],
  ['demote noop', 3],
  ['remove precondition_failed', 5],
  ['stepMembership ok', 400],
  ['stepMembership precondition_failed', 3],
  ['undoMembership ok', 40],
  ['evacuateCopies ok', 30],
  ['addReplica ok', 100],
]
