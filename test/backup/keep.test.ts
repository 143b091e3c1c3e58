/** Which backups stay. */
import fc from 'fast-check'
import t from 'tap'
import { decideKeep, type StoredBackup } from '../../src/backup/retention/keep.ts'
import type { KeepRules } from '../../src/state-machine/long-operations/records.ts'

const NONE: KeepRules = { last: 0, hourly: 0, daily: 0, weekly: 0, monthly: 0, yearly: 0 }
const HOUR_MS = 3_600_000
const backup = (id: string, isGood = true): StoredBackup => ({ id, at: Date.parse(`${id}Z`), isGood })
const ids = (backups: readonly StoredBackup[]): readonly string[] => backups.map(({ id }) => id)
const keptOf = (backups: readonly StoredBackup[], rules: KeepRules | null) =>
  decideKeep(backups, rules).kept.map(({ backup: { id }, reasons }) => [id, ...reasons])

t.test('decideKeep', async (t) => {
  t.test('keeps the newest of each of the last periods', async (t) => {
    const nights = [
      '2026-11-23T02:00',
      '2026-11-24T02:00',
      '2026-11-25T02:00',
      '2026-11-25T14:00',
      '2026-11-26T02:00',
    ].map((id) => backup(id))
    t.same(keptOf(nights, { ...NONE, daily: 3 }), [
      ['2026-11-26T02:00', 'newest', 'daily'],
      ['2026-11-25T14:00', 'daily'],
      ['2026-11-24T02:00', 'daily'],
    ])
    t.same(ids(decideKeep(nights, { ...NONE, daily: 3 }).removed), ['2026-11-23T02:00', '2026-11-25T02:00'])
  })

  t.test('weeks begin on Monday, and a week may lie in two years', async (t) => {
    const days = [
      '2026-12-27T02:00',
      '2026-12-28T02:00',
      '2027-01-01T02:00',
      '2027-01-03T02:00',
      '2027-01-04T02:00',
    ].map((id) => backup(id))
    t.same(ids(decideKeep(days, { ...NONE, weekly: 9 }).kept.map((one) => one.backup)), [
      '2027-01-04T02:00',
      '2027-01-03T02:00',
      '2026-12-27T02:00',
    ])
  })

  t.test('months and years', async (t) => {
    const times = [
      '2024-12-31T23:59',
      '2025-01-01T00:00',
      '2025-12-31T00:00',
      '2026-01-31T00:00',
      '2026-02-01T00:00',
    ].map((id) => backup(id))
    t.same(ids(decideKeep(times, { ...NONE, yearly: 2 }).kept.map((one) => one.backup)), [
      '2026-02-01T00:00',
      '2025-12-31T00:00',
    ])
    t.same(ids(decideKeep(times, { ...NONE, monthly: 3 }).kept.map((one) => one.backup)), [
      '2026-02-01T00:00',
      '2026-01-31T00:00',
      '2025-12-31T00:00',
    ])
  })

  t.test('without rules everything stays', async (t) => {
    const times = [backup('2026-01-01T00:00'), backup('2026-01-02T00:00', false)]
    t.same(decideKeep(times, null).removed, [])
  })

  t.test(
    'a backup that is not good counts for no rule, and goes behind a newer good one alone',
    async (t) => {
      const times = [
        backup('2026-01-01T00:00'),
        backup('2026-01-02T00:00', false),
        backup('2026-01-03T00:00'),
        backup('2026-01-04T00:00', false),
      ]
      t.same(keptOf(times, { ...NONE, last: 1 }), [
        ['2026-01-04T00:00', 'unfinished'],
        ['2026-01-03T00:00', 'newest', 'last'],
      ])
      t.same(decideKeep([backup('2026-01-02T00:00', false)], { ...NONE, last: 1 }).removed, [])
    },
  )

  const anyBackups = fc
    .array(fc.tuple(fc.integer({ min: 0, max: 3 * 365 * 24 }), fc.boolean()), { maxLength: 60 })
    .map((rows) => rows.map(([hour, isGood], n) => ({ id: `b${n}`, at: hour * HOUR_MS + n, isGood })))
  const count = fc.integer({ min: 0, max: 5 })
  const anyRules: fc.Arbitrary<KeepRules> = fc.record({
    last: count,
    hourly: count,
    daily: count,
    weekly: count,
    monthly: count,
    yearly: count,
  })

  t.test(
    'the newest good backup stays, each backup either stays or goes, and a second decision removes nothing',
    async () => {
      fc.assert(
        fc.property(anyBackups, anyRules, (backups, rules) => {
          const { kept, removed } = decideKeep(backups, rules)
          const newest = backups.filter(({ isGood }) => isGood).toSorted((one, other) => other.at - one.at)[0]
          const stays = kept.map((one) => one.backup)
          return (
            (newest === undefined || stays.includes(newest)) &&
            kept.length + removed.length === backups.length &&
            kept.every(({ reasons }) => reasons.length > 0) &&
            decideKeep(stays, rules).removed.length === 0
          )
        }),
        { numRuns: 500, seed: 17 },
      )
    },
  )

  t.test('a rule keeps as many periods as it says, or all there are', async () => {
    fc.assert(
      fc.property(anyBackups, fc.integer({ min: 1, max: 6 }), (backups, daily) => {
        const good = backups.filter(({ isGood }) => isGood)
        const days = new Set(good.map(({ at }) => Math.floor(at / (24 * HOUR_MS))))
        const { kept } = decideKeep(backups, { ...NONE, daily })
        const byRule = kept
          .filter(({ reasons }) => reasons.includes('daily'))
          .map(({ backup: { at } }) => Math.floor(at / (24 * HOUR_MS)))
        const expected = [...days].sort((one, other) => other - one).slice(0, daily)
        return JSON.stringify(byRule) === JSON.stringify(expected)
      }),
      { numRuns: 300, seed: 19 },
    )
  })
})
