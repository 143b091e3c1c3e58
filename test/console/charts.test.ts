/** From series to lines: gaps stay gaps, nodes become one, scales are round. */
import t from 'tap'
import {
  CHART_NAMES,
  CHARTS,
  drawn,
  lastKnown,
  linesOf,
  marksOf,
  type Series,
} from '../../packages/console/src/judge/charts.ts'
import { figure } from '../../packages/console/src/words/format.ts'
import { CHART_TEXTS } from '../../packages/console/src/words/chart-strings.ts'
import { SERIES } from '../../src/telemetry/history/series.ts'

const seriesWith = (given: Partial<Series>): Series =>
  ({ ...Object.fromEntries(SERIES.map((name) => [name, [null, null, null]])), ...given }) as Series

t.test('each series is in a chart, and each line has a name', async (t) => {
  const used = CHART_NAMES.flatMap((name) => Object.values(CHARTS[name].lines).flat())
  t.same(new Set(used), new Set(SERIES))
  for (const name of CHART_NAMES)
    t.same(Object.keys(CHART_TEXTS.charts[name].lines), Object.keys(CHARTS[name].lines), name)
})

t.test('linesOf', async (t) => {
  const n1 = seriesWith({
    nativeOk: [1, null, 3],
    nativeFailed: [10, null, null],
    answerP99: [0.1, 0.2, null],
  })
  const n2 = seriesWith({ nativeOk: [100, null, null], answerP99: [0.3, 0.1, null] })
  t.same(linesOf(CHARTS.requests, [n1, n2], 3)[0], [111, null, 3], 'rates are added')
  t.same(linesOf(CHARTS.answers, [n1, n2], 3)[1], [0.3, 0.2, null], 'of times the worst counts')
  t.same(linesOf(CHARTS.requests, [], 3)[0], [null, null, null], 'without nodes nothing is known')
})

t.test('marksOf', async (t) => {
  const marks = (most: number | null, unit: Parameters<typeof marksOf>[1] = 'perSecond') =>
    marksOf([[0, most]], unit)
  t.same(marks(null), [0, 1])
  t.same(marks(7), [0, 2, 4, 6, 8])
  t.same(marks(0.7), [0, 0.2, 0.4, 0.6000000000000001, 0.8])
  t.same(marks(1, 'entries'), [0, 1])
  t.same(
    marks(5 * 1024 ** 3, 'bytes'),
    [0, 2, 4, 6].map((part) => part * 1024 ** 3),
  )
  for (const most of [1e-6, 0.3, 1, 9.99, 1023, 1024, 1e12])
    for (const unit of ['seconds', 'bytes', 'entries'] as const) {
      const found = marks(most, unit)
      t.ok((found.at(-1) ?? 0) >= most * 0.999 && found.length <= 6, `${most} ${unit}: ${found.join(' ')}`)
    }
})

t.test('drawn leaves gaps, and shows a value that is alone', async (t) => {
  t.equal(drawn([0, 50, null, 100, null], 100), 'M0 100L1 50M3 0h.5')
  t.equal(drawn([null, null], 1), '')
  t.equal(
    lastKnown([
      [1, null],
      [null, 2, null],
    ]),
    1,
  )
  t.equal(lastKnown([[null]]), null)
})

t.test('figures have at most three digits', async (t) => {
  t.same([0, 0.00213, 12.35, 99.96, 1240.4].map(figure), ['0', '0.00213', '12.3', '100', '1,240'])
})
