/**
 * One chart: lines over time, a cursor for pointer and keys, and the same figures as a table.
 *
 * Owns: what is drawn. Knows nothing of: what the lines are. Rules: no line differs from others by its colour alone; whatever the drawing says, the table and the
 * words of the cursor say too.
 */
import { useId, useState } from 'preact/hooks'
import { drawn, lastKnown, type Value } from '../judge/charts.ts'
import { CHART_TEXTS } from '../words/chart-strings.ts'
import { Card } from './basics.tsx'
import { Table } from './table.tsx'

const SAYS = CHART_TEXTS
const FAR = 10

export interface ChartProps {
  readonly title: string
  readonly names: readonly string[]
  /** One for each name. */
  readonly lines: readonly (readonly Value[])[]
  /** From 0 up. */
  readonly marks: readonly number[]
  /** Of each point. */
  readonly timeOf: (at: number) => string
  readonly shown: (value: number) => string
}

export function Chart(props: ChartProps) {
  const { title, names, lines, timeOf } = props
  const [cursor, setCursor] = useState<number | null>(null)
  const points = lines[0]?.length ?? 0
  const last = lastKnown(lines)
  const at = cursor ?? last
  return (
    <Card title={title}>
      <Legend {...props} at={at} />
      {last === null ? (
        <p class="soft empty">{SAYS.empty}</p>
      ) : (
        <Plot {...props} at={cursor} last={last} onMove={setCursor} />
      )}
      <p class="soft ends">
        <span>{timeOf(0)}</span>
        <span>{cursor === null ? '' : timeOf(cursor)}</span>
        <span>{timeOf(points - 1)}</span>
      </p>
      {last === null || names.length === 0 ? null : <AsTable {...props} />}
    </Card>
  )
}

const valueAt = ({ lines, shown }: ChartProps, row: number, at: number | null): string => {
  const value = at === null ? null : (lines[row]?.[at] ?? null)
  return value === null ? SAYS.unknown : shown(value)
}

function Legend({ at, ...props }: ChartProps & { readonly at: number | null }) {
  return (
    <ul class="legend">
      {props.names.map((name, row) => (
        <li key={name}>
          <svg viewBox="0 0 24 4" aria-hidden="true" focusable="false">
            <path class={`line l${row}`} d="M0 2h24" />
          </svg>
          <span class="soft">{name}</span>
          <b>{valueAt(props, row, at)}</b>
        </li>
      ))}
    </ul>
  )
}

interface PlotProps extends ChartProps {
  /** Where the cursor is; null: nowhere. */
  readonly at: number | null
  readonly last: number
  readonly onMove: (at: number | null) => void
}

function Plot(props: PlotProps) {
  const { title, names, lines, marks, shown, timeOf, at, last, onMove } = props
  const help = useId()
  const end = (lines[0]?.length ?? 1) - 1
  const top = marks.at(-1) ?? 1
  const place = at ?? last
  const figures = names.map((name, row) => SAYS.figure(name, valueAt(props, row, place))).join(', ')
  const move = (to: number): void => onMove(Math.min(end, Math.max(0, to)))
  const steps: Readonly<Record<string, number>> = {
    ArrowLeft: place - 1,
    ArrowRight: place + 1,
    PageDown: place - FAR,
    PageUp: place + FAR,
    Home: 0,
    End: end,
  }
  return (
    <div
      class="plot"
      role="slider"
      tabIndex={0}
      aria-label={title}
      aria-describedby={help}
      aria-valuemin={0}
      aria-valuemax={end}
      aria-valuenow={place}
      aria-valuetext={SAYS.at(timeOf(place), figures)}
      onKeyDown={(event) => {
        const to = steps[event.key]
        if (to === undefined) return
        event.preventDefault()
        move(to)
      }}
      onPointerMove={(event) => {
        const { left, width } = event.currentTarget.getBoundingClientRect()
        move(Math.round(((event.clientX - left) / Math.max(1, width)) * end))
      }}
      onPointerLeave={() => onMove(null)}
      onBlur={() => onMove(null)}
    >
      <svg viewBox={`0 0 ${end} 100`} preserveAspectRatio="none" aria-hidden="true" focusable="false">
        {marks.map((mark) => (
          <path key={mark} class="mark" d={`M0 ${100 - (100 * mark) / top}H${end}`} />
        ))}
        {lines.map((line, row) => (
          <path key={names[row]} class={`line l${row}`} d={drawn(line, top)} />
        ))}
        {at === null ? null : <path class="cursor" d={`M${at} 0V100`} />}
      </svg>
      <span class="top">{shown(top)}</span>
      <span class="unseen" id={help}>
        {SAYS.keys}
      </span>
    </div>
  )
}

function AsTable(props: ChartProps) {
  const { title, names, lines, timeOf } = props
  const [isOpen, setOpen] = useState(false)
  const rows = Array.from({ length: lines[0]?.length ?? 0 }, (_, at) => at)
    .filter((at) => lines.some((line) => (line[at] ?? null) !== null))
    .toReversed()
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary aria-label={SAYS.tableOf(title)}>{SAYS.asTable}</summary>
      {isOpen ? (
        <div class="figures">
          <Table
            label={title}
            empty={SAYS.empty}
            keyOf={(at) => `${at}`}
            rows={rows}
            columns={[
              { head: SAYS.time, cell: (at) => timeOf(at) },
              ...names.map((head, row) => ({
                head,
                cell: (at: number) => valueAt(props, row, at),
                isFigure: true as const,
              })),
            ]}
          />
        </div>
      ) : null}
    </details>
  )
}
