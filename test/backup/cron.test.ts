/** Schedules: five fields in UTC. */
import fc from 'fast-check'
import t from 'tap'
import { type Cron, lastTime, nextTime, parseCron, ScheduleError } from '../../src/backup/schedules/cron.ts'
import { decideSchedule } from '../../src/backup/schedules/due.ts'

const at = (text: string): number => Date.parse(`${text}Z`)
const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

t.test('parseCron', async (t) => {
  const next = (text: string, from: string): string =>
    new Date(nextTime(parseCron(text), at(from)) ?? Number.NaN).toISOString().slice(0, 16)

  t.test('reads numbers, lists, ranges, steps and names', async (t) => {
    const rows: readonly (readonly [text: string, from: string, next: string])[] = [
      ['30 2 * * *', '2026-11-27T02:29:59', '2026-11-27T02:30'],
      ['30 2 * * *', '2026-11-27T02:30:00', '2026-11-28T02:30'],
      ['*/20 * * * *', '2026-11-27T23:59', '2026-11-28T00:00'],
      ['0 0,12 * * *', '2026-11-27T00:00', '2026-11-27T12:00'],
      ['0 4 * * sun', '2026-11-27T00:00', '2026-11-29T04:00'],
      ['0 4 * * 7', '2026-11-27T00:00', '2026-11-29T04:00'],
      ['0 4 * * mon-fri', '2026-11-27T05:00', '2026-11-30T04:00'],
      ['0 4 1 jan,jul *', '2026-11-27T00:00', '2027-01-01T04:00'],
      ['0 0 29 2 *', '2096-03-01T00:00', '2104-02-29T00:00'],
      ['0 0 31 * *', '2026-11-27T00:00', '2026-12-31T00:00'],
      ['5-15/5 8 * * *', '2026-11-27T08:05', '2026-11-27T08:10'],
    ]
    for (const [text, from, expected] of rows) t.equal(next(text, from), expected, text)
  })

  t.test('refuses what never fits', async (t) => {
    for (const text of ['0 2 30 2 *', '0 2 30,31 feb *', '0 2 31 4,6,9,11 *'])
      t.throws(() => parseCron(text), { name: 'ScheduleError', message: /never fits/ }, text)
  })

  t.test('refuses a day of the month beside a weekday', async (t) => {
    t.throws(() => parseCron('0 2 1 * mon'), { message: /both a day of the month and a weekday/ })
  })

  t.test('refuses what is no schedule, and says what was expected', async (t) => {
    const texts = [
      '',
      '* * * *',
      '* * * * * *',
      '60 * * * *',
      '* 24 * * *',
      '* * 0 * *',
      '* * * 13 *',
      '* * * * 8',
    ]
    const more = [
      'a * * * *',
      '5-1 * * * *',
      '*/0 * * * *',
      '1/2 * * * *',
      '1-2-3 * * * *',
      '1,, * * * *',
      '-1 * * * *',
      `* * * * ${'1,'.repeat(200)}1`,
    ]
    for (const text of [...texts, ...more])
      t.throws(() => parseCron(text), { name: 'ScheduleError', message: /30 2 \* \* \*/ }, text)
  })

  t.test('any text is a schedule or refused, and each schedule has a time within its search', async () => {
    const field = fc.oneof(
      fc.constant('*'),
      fc.integer({ min: -1, max: 61 }).map(String),
      fc.string({ maxLength: 6 }),
    )
    const text = fc.tuple(field, field, field, field, field).map((fields) => fields.join(' '))
    fc.assert(
      fc.property(text, fc.integer({ min: 0, max: at('2200-01-01T00:00') }), (candidate, now) => {
        try {
          return nextTime(parseCron(candidate), now) !== null
        } catch (error) {
          if (error instanceof ScheduleError) return true
          throw error
        }
      }),
      { numRuns: 500, seed: 7 },
    )
  })
})

const few = (min: number, max: number) =>
  fc.oneof(
    fc.constant('*'),
    fc.uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength: 3 }).map(String),
  )
const anyCron = fc
  .tuple(few(0, 59), few(0, 23), few(1, 28), few(1, 12), few(0, 6), fc.boolean())
  .map(([minute, hour, day, month, weekday, isByDay]) =>
    parseCron([minute, hour, isByDay ? day : '*', month, isByDay ? '*' : weekday].join(' ')),
  )
const anyTime = fc.integer({ min: at('2000-01-01T00:00'), max: at('2040-01-01T00:00') })

/** The plainest reading of the five fields. */
function fits({ minutes, hours, days, months, weekdays }: Cron, time: number): boolean {
  const date = new Date(time)
  return (
    minutes.includes(date.getUTCMinutes()) &&
    hours.includes(date.getUTCHours()) &&
    days.includes(date.getUTCDate()) &&
    months.includes(date.getUTCMonth() + 1) &&
    weekdays.includes(date.getUTCDay())
  )
}

t.test('lastTime and nextTime', async (t) => {
  t.test('fit, and no time between them fits', async () => {
    fc.assert(
      fc.property(anyCron, anyTime, fc.integer({ min: 0, max: 5000 }), (cron, now, minutes) => {
        const [last, next] = [lastTime(cron, now), nextTime(cron, now)]
        if (last === null || next === null) return false
        const probe = Math.floor(now / MINUTE_MS) * MINUTE_MS + (minutes - 2500) * MINUTE_MS
        const isBetween = probe > last && probe < next
        return (
          last <= now &&
          next > now &&
          fits(cron, last) &&
          fits(cron, next) &&
          !(isBetween && fits(cron, probe))
        )
      }),
      { numRuns: 1000, seed: 11 },
    )
  })
})

t.test('decideSchedule', async (t) => {
  const daily = parseCron('30 2 * * *')
  const scheduled = { when: daily, markAt: at('2026-11-27T02:30'), isPaused: false, isRunning: false }

  t.test('runs at its time, and not before', async (t) => {
    t.match(decideSchedule(scheduled, at('2026-11-28T02:29:59')), {
      kind: 'wait',
      until: at('2026-11-28T02:30'),
    })
    t.same(decideSchedule(scheduled, at('2026-11-28T02:30')), { kind: 'run', slotAt: at('2026-11-28T02:30') })
  })

  t.test('of ten nights without a cluster one run is made up for', async (t) => {
    const now = at('2026-12-07T09:00')
    const decision = decideSchedule(scheduled, now)
    t.same(decision, { kind: 'run', slotAt: at('2026-12-07T02:30') })
    t.match(decideSchedule({ ...scheduled, markAt: at('2026-12-07T02:30') }, now), { kind: 'wait' })
  })

  t.test('waits while a run is under way, and while it is paused', async (t) => {
    const now = at('2026-12-07T09:00')
    t.same(decideSchedule({ ...scheduled, isRunning: true }, now), { kind: 'wait', until: null })
    t.same(decideSchedule({ ...scheduled, isPaused: true }, now), { kind: 'wait', until: null })
  })

  t.test('a time that was set back runs nothing at once, and does not silence the schedule', async (t) => {
    const now = at('2026-11-20T12:00')
    t.same(decideSchedule(scheduled, now), { kind: 'align' })
    t.match(decideSchedule({ ...scheduled, markAt: now }, now), {
      kind: 'wait',
      until: at('2026-11-21T02:30'),
    })
  })

  t.test(
    'however the clock goes, no time runs twice, and runs are no more than the times that passed',
    async () => {
      const steps = fc.array(fc.integer({ min: -3 * DAY_MS, max: 10 * DAY_MS }), { maxLength: 40 })
      fc.assert(
        fc.property(anyCron, steps, (when, moves) => {
          let [now, markAt, runs, backwards] = [at('2026-01-01T00:00'), at('2026-01-01T00:00'), 0, 0]
          for (const move of moves) {
            now += move
            if (move < 0) backwards++
            for (let n = 0; n < 3; n++) {
              const decision = decideSchedule({ ...scheduled, when, markAt }, now)
              if (decision.kind === 'align') markAt = now
              if (decision.kind !== 'run') continue
              if (decision.slotAt <= markAt || decision.slotAt > now || n === 2) return false
              markAt = decision.slotAt
              runs++
            }
          }
          return runs <= moves.length - backwards
        }),
        { numRuns: 300, seed: 13 },
      )
    },
  )
})
