/** The rows of attacks as a table in Markdown. */
import { columnsOf, type Column } from '../../../scripts/bench/table.ts'
import type { Measured } from './measure.ts'
import type { AttackRow } from './run-attack.ts'
import type { RunRow } from './run-plan.ts'

const COLUMNS: readonly Column<RunRow>[] = [
  { title: 'attack', of: ({ attack }) => `${attack.id}: ${attack.title}` },
  { title: 'nodes of', of: ({ build, round }) => (round === 1 ? build.name : `${build.name}, ${round}.`) },
  { title: 'victim', of: ({ attack }) => attack.victim.title },
  figure('alone p50 / p99 ms', ({ alone }) => latencies(alone)),
  figure('done', ({ alone }) => done(alone)),
  figure('beside p50 / p99 ms', ({ beside }) => latencies(beside)),
  figure('done', ({ beside }) => done(beside)),
  figure('speed kept', ({ alone, beside }) => kept(alone, beside)),
  {
    title: 'counted',
    of: ({ outcome }) => (outcome instanceof Error ? failure(outcome) : listed(outcome.counts)),
  },
]

export function attackTable(rows: readonly RunRow[]): string {
  return columnsOf(COLUMNS, rows).join('\n')
}

function figure(title: string, of: (row: AttackRow) => string): Column<RunRow> {
  return { title, of: ({ outcome }) => (outcome instanceof Error ? '-' : of(outcome)) }
}

/** One line that breaks no cell. */
const failure = ({ message }: Error): string =>
  `failed: ${message.replaceAll(/\s+/g, ' ').replaceAll('|', '/').slice(0, 200)}`

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
