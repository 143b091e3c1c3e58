/** The rows of attacks as a table in Markdown. */
import { columnsOf, type Column } from '../../../scripts/bench/table.ts'
import type { AttackRow } from './run-attack.ts'
import type { Measured } from './measure.ts'

const COLUMNS: readonly Column<AttackRow>[] = [
  { title: 'attack', of: ({ attack }) => `${attack.id}: ${attack.title}` },
  { title: 'victim', of: ({ attack }) => attack.victim.title },
  { title: 'alone p50 / p99 ms', of: ({ alone }) => latencies(alone) },
  { title: 'done', of: ({ alone }) => done(alone) },
  { title: 'beside p50 / p99 ms', of: ({ beside }) => latencies(beside) },
  { title: 'done', of: ({ beside }) => done(beside) },
  { title: 'speed kept', of: ({ alone, beside }) => kept(alone, beside) },
  { title: 'counted', of: ({ counts }) => listed(counts) },
]

export function attackTable(rows: readonly AttackRow[]): string {
  return columnsOf(COLUMNS, rows).join('\n')
}

const rounded = (ms: number | null): string => (ms === null ? '-' : ms.toFixed(ms < 10 ? 1 : 0))

const latencies = ({ p50Ms, p99Ms }: Measured): string => `${rounded(p50Ms)} / ${rounded(p99Ms)}`

function done({ completed, failed, unanswered }: Measured): string {
  const missing = [failed > 0 ? `${failed} failed` : '', unanswered > 0 ? `${unanswered} open` : '']
  return [`${completed}`, ...missing.filter((text) => text !== '')].join(', ')
}

/** Requests a second beside the attack, in percent of those without it. */
function kept(alone: Measured, beside: Measured): string {
  if (alone.completed === 0) return '-'
  return `${Math.round((100 * (beside.completed / beside.seconds)) / (alone.completed / alone.seconds))} %`
}

const listed = (counts: AttackRow['counts']): string =>
  Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
