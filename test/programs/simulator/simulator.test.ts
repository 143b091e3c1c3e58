/**
 * Whole nodes in a simulated world under faults, without a broken promise; and worlds with a
 * deliberate bug, which the checks must detect.
 *
 * Rerun one seed with `npm run sim -- --seed S --events M --trace`.
 */
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import t from 'tap'
import { runPool, type SimReport } from './pool.ts'
import { SimSummary } from './summary.ts'
import { runSeed } from './run-seed.ts'
import type { Canary } from './sim-world.ts'
import { leastInPart, shareOf } from '../../helpers/proof-size.ts'
import { allowMinutes } from './time-limit.ts'
import { trapped } from './traps.ts'

const SEEDS_WHOLE = 75
const SEEDS = shareOf(SEEDS_WHOLE, 6)
const EVENTS = 50_000
/** One of this many seeds runs twice. */
const TWICE_EVERY = 6
/** A bug is detected within this many seeds, or the checks are blind. */
const CANARY_SEEDS = 10
/** Seeds whose histories are checked for one order. */
const JUDGED_SEEDS = shareOf(20, 3)
/** Most runs end before clients have seen the bug. */
const HISTORY_SEEDS = 60
/** test/programs/simulator/object-simulator.test.ts does the same for objects. */
const REGISTERS = { machine: 'registers' } as const
/** Alone on two cores it takes two. */
const MINUTES_MAX = 30

allowMinutes(t, MINUTES_MAX)

t.test('simulator', { timeout: MINUTES_MAX * 60_000 }, async (t) => {
  await t.test(
    `keeps every promise in ${SEEDS} seeds of ${EVENTS} events`,
    { timeout: MINUTES_MAX * 60_000 },
    async (t) => {
      const summary = new SimSummary()
      const broken: SimReport[] = []
      let started = 0
      await runPool({
        workers: Math.min(availableParallelism(), 4),
        next: () => {
          if (started >= SEEDS || broken.length > 3) return null
          started += 1
          return {
            seed: started,
            events: EVENTS,
            twice: started % TWICE_EVERY === 0,
            traceLines: 0,
            machine: null,
          }
        },
        onReport: (report) => {
          summary.add(report)
          if (report.violation !== null) broken.push(report)
        },
      })
      for (const { seed, violation } of broken)
        t.fail(
          `seed=${seed}: ${violation ?? ''}; rerun: npm run sim -- --seed ${seed} --events ${EVENTS} --trace`,
        )
      t.comment(summary.line(SEEDS))
      for (const row of summary.table().trim().split('\n')) t.comment(row)
      t.ok(summary.sum('events') >= SEEDS * EVENTS || broken.length > 0, 'every seed ran to its end')
      for (const [figure, least] of ENOUGH)
        t.ok(
          summary.sum(figure) >= leastInPart(least * SEEDS_WHOLE, started / SEEDS_WHOLE),
          `enough happened: ${summary.sum(figure)} ${figure}`,
        )
    },
  )

  for (const canary of ['earlyAck', 'lyingDisk', 'staleRead', 'doubleApply'] satisfies Canary[]) {
    t.test(`detects ${canary}`, async (t) => {
      const found: string[] = []
      for (let seed = 1; seed <= CANARY_SEEDS && found.length === 0; seed += 1) {
        const { violation } = await runSeed({ seed, events: 20_000, canary, plan: REGISTERS })
        if (violation !== null) found.push(`seed ${seed}: ${violation.split('\n')[0] ?? ''}`)
      }
      t.equal(found.length, 1, found[0] ?? `not within ${CANARY_SEEDS} seeds`)
    })
  }

  t.test('shows histories in which the checker of histories finds one order', async (t) => {
    for (let seed = 1; seed <= JUDGED_SEEDS; seed += 1) {
      const { verdict } = await runSeed({ seed, events: 20_000, judgeWith: 200_000, plan: REGISTERS })
      t.not(verdict?.startsWith('violation'), true, `seed ${seed}: ${verdict ?? ''}`)
    }
  })

  t.test('shows a history without an order when reads do not wait', async (t) => {
    const shown: string[] = []
    for (let seed = 1; seed <= HISTORY_SEEDS && shown.length === 0; seed += 1) {
      const options = {
        seed,
        events: 20_000,
        canary: 'staleRead',
        judgeWith: 200_000,
        plan: REGISTERS,
      } as const
      const { verdict } = await runSeed(options)
      if (verdict?.startsWith('violation') === true) shown.push(`seed ${seed}: ${verdict}`)
    }
    t.equal(shown.length, 1, shown[0] ?? `not within ${HISTORY_SEEDS} seeds`)
  })

  t.test('is the same run for the same seed, and another one for another', async (t) => {
    const one = await runSeed({ seed: 7, events: 3_000 })
    const same = await runSeed({ seed: 7, events: 3_000, traceLines: 100 })
    const other = await runSeed({ seed: 8, events: 3_000 })
    t.equal(one.hash, same.hash, 'watching changes nothing')
    t.not(one.hash, other.hash)
    t.equal(same.trace.length, 100)
  })

  t.test(
    'refuses real time, real chance and real files while a seed runs, and gives them back',
    async (t) => {
      const forbidden: readonly (() => unknown)[] = [
        () => Date.now(),
        () => Math.random(),
        () => performance.now(),
        () => readFileSync(import.meta.filename),
      ]
      for (const use of forbidden) t.throws(() => trapped(use), /only the virtual world counts/)
      t.throws(() => trapped(() => setImmediate(() => undefined)), /virtual world/)
      for (const use of forbidden) t.doesNotThrow(use)
    },
  )
})

/** At least this much of each in a seed, on average. */
const ENOUGH: readonly (readonly [figure: string, least: number])[] = [
  ['elections', 20],
  ['commits', 500],
  ['acknowledged', 500],
  ['reads', 300],
  ['crashes', 20],
  ['partitions', 15],
  ['snapshots', 3],
  ['rebuilt', 0.3],
  ['reused', 0.5],
  ['wentBack', 0.5],
]
