/**
 * LogTime: from stamps to the time of entries, withheld steps, and corrections.
 */
import t from 'tap'
import {
  CORRECTION_VALID_MS,
  LogTime,
  TIME_LEVEL,
  TIME_STEP_MAX_MS,
} from '../../cluster/node/base/log-time.ts'

const NOW = 1_795_000_000_000
const YEAR_MS = 365 * 86_400_000

function timeAt(lastTime: number, withheldMs = 0): LogTime {
  return new LogTime({ lastTime, withheldMs, highTime: lastTime })
}

t.test('LogTime', async (t) => {
  t.test('below the level it is as in older versions: strictly rising, all confirmed', async (t) => {
    const time = timeAt(NOW)
    for (const stamp of [NOW, NOW - 5, NOW + YEAR_MS]) time.advance(stamp, TIME_LEVEL - 1)
    const last = NOW + YEAR_MS
    t.same(time.present, { time: last, confirmedTime: last, orderTime: last })
    time.advance(0, TIME_LEVEL - 1)
    t.equal(time.present.time, last + 1)
  })

  t.test(
    'from the level on it stays where it is without a later stamp, however many entries come',
    async (t) => {
      const time = timeAt(NOW)
      for (const stamp of [NOW, NOW - 5, 0, NOW]) time.advance(stamp, TIME_LEVEL)
      t.equal(time.present.time, NOW)
      time.advance(NOW + 3, TIME_LEVEL)
      t.same(time.present, { time: NOW + 3, confirmedTime: NOW + 3, orderTime: NOW + 3 })
    },
  )

  t.test('withholds a step that is longer than the bound, and no part of a shorter one', async (t) => {
    const time = timeAt(NOW)
    time.advance(NOW + TIME_STEP_MAX_MS, TIME_LEVEL)
    t.equal(time.present.confirmedTime, NOW + TIME_STEP_MAX_MS)
    time.advance(NOW + 2 * TIME_STEP_MAX_MS + 1, TIME_LEVEL)
    t.equal(time.present.confirmedTime, NOW + TIME_STEP_MAX_MS)
    time.advance(NOW + 2 * TIME_STEP_MAX_MS + 11, TIME_LEVEL)
    t.equal(time.present.confirmedTime, NOW + TIME_STEP_MAX_MS + 10, 'it continues from there')
  })

  t.test('withholds nothing with the entry that raises the level: there was no time before it', async (t) => {
    const time = timeAt(0)
    time.advance(NOW, TIME_LEVEL - 1)
    t.equal(time.present.confirmedTime, NOW)
  })

  t.test('confirms the time that the operator has seen, and nothing withheld after that', async (t) => {
    const time = timeAt(NOW, 5_000)
    time.correct({ kind: 'confirm', withheldMs: 3_000 }, NOW)
    t.equal(time.present.confirmedTime, NOW - 2_000)
    time.correct({ kind: 'confirm', withheldMs: 3_000 }, NOW)
    t.equal(time.present.confirmedTime, NOW)
  })

  t.test(
    'is set back to the stamp; ids keep ascending, and the confirmed time does not advance by it',
    async (t) => {
      const ahead = timeAt(NOW + YEAR_MS)
      ahead.correct({ kind: 'setBack', seenTime: NOW - 100 }, NOW)
      t.same(ahead.present, { time: NOW, confirmedTime: NOW, orderTime: NOW + YEAR_MS })
      const withheld = timeAt(NOW + YEAR_MS, YEAR_MS + 70_000)
      withheld.correct({ kind: 'setBack', seenTime: NOW - 100 }, NOW)
      t.same(withheld.record, { lastTime: NOW, withheldMs: 70_000, highTime: NOW + YEAR_MS })
    },
  )

  t.test('is not set back without a majority, on an outdated view, or when it is not ahead', async (t) => {
    for (const [seenTime, stamp, last] of [
      [NOW, 0, NOW + YEAR_MS],
      [NOW, NOW + CORRECTION_VALID_MS + 1, NOW + YEAR_MS],
      [NOW, NOW, NOW],
    ] as const) {
      const time = timeAt(last)
      time.correct({ kind: 'setBack', seenTime }, stamp)
      t.equal(time.present.time, last)
    }
  })
})
