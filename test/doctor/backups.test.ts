/** What the doctor says of schedules of backups. */
import t from 'tap'
import { checkBackups } from '../../src/doctor/backup-checks.ts'

const LAST_GOOD_AT = Date.UTC(2026, 10, 22, 2)

const textsOf = (status: Parameters<typeof checkBackups>[0]): readonly string[] =>
  checkBackups(status).map(({ severity, found }) => `${severity}: ${found}`)

t.test('schedules of backups', async (t) => {
  const good = {
    name: 'nightly',
    isPaused: false,
    isLate: false,
    failures: 0,
    error: null,
    lastGoodAt: LAST_GOOD_AT,
    waitsFor: null,
  }
  const judged = (...schedules: readonly object[]) =>
    textsOf({ schedules: schedules.map((one) => ({ ...good, ...one })) })
  t.same(textsOf(null), [])
  t.same(judged(), ['ok: there is no schedule of backups'])
  t.match(judged({}), [/^ok: schedule "nightly": the last good backup is that of 2026-11-22T/])
  t.match(judged({ isLate: true, lastGoodAt: null, failures: 2, error: 'it is full' }), [
    /^error: schedule "nightly" has no good backup since its last time but one; the last good one is none/,
    /^warning: 2 backups of schedule "nightly" failed in a row: it is full/,
  ])
  t.match(judged({}, { name: 'weekly', isPaused: true }), [/^warning: schedule "weekly" is paused/])
  const waitsFor = { operationId: 'x1', kind: 'keyExchange', status: 'paused' }
  t.match(judged({ waitsFor }), [
    /^warning: .* operation x1 \(keyExchange, paused\) keeps its backup from starting/,
  ])
})
