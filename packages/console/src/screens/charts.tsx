/**
 * Charts: how requests, times, bytes, disks and memory have changed, of all nodes together or of one.
 */
import { useEffect } from 'preact/hooks'
import type { ClusterHistory } from '../../../client/src/admin.ts'
import {
  CHART_NAMES,
  CHARTS,
  type ChartName,
  linesOf,
  marksOf,
  type Series,
  type Unit,
} from '../judge/charts.ts'
import { Card, Loaded, Notice } from '../parts/basics.tsx'
import { Chart } from '../parts/chart.tsx'
import { Select } from '../parts/form.tsx'
import { history, keepLoading, type Range, range, shownNode } from '../state/history-data.ts'
import { bytes, duration, figure, moment } from '../words/format.ts'
import { CHART_TEXTS } from '../words/chart-strings.ts'

const SAYS = CHART_TEXTS

const SHOWN: Readonly<Record<Unit, (value: number) => string>> = {
  perSecond: (value) => SAYS.perSecond(figure(value)),
  bytesPerSecond: (value) => SAYS.perSecond(bytes(value)),
  seconds: (value) => (value < 1 ? `${figure(value * 1000)} ms` : duration(value)),
  bytes,
  entries: figure,
}

export function Charts() {
  const asked = range.value
  useEffect(keepLoading, [asked])
  return (
    <>
      <Choices found={history.value.value} />
      <Loaded of={history}>{(found) => <All found={found} />}</Loaded>
    </>
  )
}

function Choices({ found }: { readonly found: ClusterHistory | null }) {
  const ranges = found?.ranges ?? [range.value]
  const nodes = found?.nodes.map(({ nodeId }) => nodeId) ?? []
  return (
    <Card>
      <div class="two">
        <Select
          label={SAYS.range}
          value={range.value}
          choices={ranges.map((value) => ({ value, text: SAYS.ranges[value] }))}
          onChange={(value) => (range.value = ranges.find((one) => one === value) ?? 'hour')}
        />
        <Select
          label={SAYS.node}
          value={shownNode.value}
          choices={[{ value: '', text: SAYS.all }, ...nodes.map((value) => ({ value, text: value }))]}
          onChange={(value) => (shownNode.value = value)}
        />
      </div>
      {found !== null && found.ranges.length === 1 ? <p class="soft">{SAYS.onlyHour}</p> : null}
    </Card>
  )
}

function All({ found }: { readonly found: ClusterHistory }) {
  const missing = found.nodes.filter(({ reachable }) => !reachable).map(({ nodeId }) => nodeId)
  const one = found.nodes.find(({ nodeId }) => nodeId === shownNode.value)
  const series = (one === undefined ? found.nodes : [one]).flatMap((node) => node.series ?? [])
  return (
    <>
      {missing.length === 0 ? null : <Notice tone="warn" title={SAYS.missing(missing.join(', '))} />}
      <div class="charts">
        {CHART_NAMES.map((name) => (
          <One key={name} name={name} found={found} series={series} />
        ))}
      </div>
    </>
  )
}

interface OneProps {
  readonly name: ChartName
  readonly found: ClusterHistory
  readonly series: readonly Series[]
}

function One({ name, found: { from, everySeconds, points, range: of }, series }: OneProps) {
  const plan = CHARTS[name]
  const texts = SAYS.charts[name]
  const lines = linesOf(plan, series, points)
  const startMs = Date.parse(from)
  return (
    <Chart
      title={texts.title}
      names={Object.values(texts.lines)}
      lines={lines}
      marks={marksOf(lines, plan.unit)}
      timeOf={(at) => moment(startMs + at * everySeconds * 1000, isShort(of))}
      shown={SHOWN[plan.unit]}
    />
  )
}

const isShort = (of: Range): boolean => of === 'hour'
