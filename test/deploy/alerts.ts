/**
 * The alert rules as data: which metrics and labels an expression asks for.
 *
 * Rule: it knows no more of PromQL than the rules use; a word that it does not know counts as a metric, so that a
 * spelling mistake is found rather than skipped.
 */
import { parse } from 'yaml'
import { read } from './files.ts'

export interface AlertRule {
  readonly alert: string
  readonly expr: string
  readonly for?: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly description: string }
}

interface Wanted {
  readonly metric: string
  readonly labels: readonly string[]
}

const KEYWORDS = ['by', 'on', 'and', 'or', 'unless', 'without', 'ignoring', 'group_left', 'group_right']
/** What Prometheus itself adds to each sample. */
export const TARGET_LABELS = ['job', 'instance']

export function alertRules(): readonly AlertRule[] {
  const { groups } = parse(read('deploy/prometheus/alerts.yml')) as { groups: { rules: AlertRule[] }[] }
  return groups.flatMap(({ rules }) => rules)
}

export interface RecordingRule {
  readonly record: string
  readonly expr: string
}

export function recordingRules(): readonly RecordingRule[] {
  const { groups } = parse(read('deploy/prometheus/recording.yml')) as {
    groups: { rules: RecordingRule[] }[]
  }
  return groups.flatMap(({ rules }) => rules)
}

/** The metrics of an expression, with the labels that it selects by. */
export function wantedBy(expr: string): readonly Wanted[] {
  const plain = expr
    .replace(/"[^"]*"/g, '""')
    .replace(/\[[^\]]*\]/g, '')
    // Lists of labels, not of metrics.
    .replace(/\b(by|on|without|ignoring|group_left|group_right)\s*\([^)]*\)/g, ' ')
  return [...plain.matchAll(/\b([a-zA-Z_][\w:]*)\b(?!\s*\()(?:\{([^}]*)\})?/g)]
    .map(([, metric = '', selector = '']) => ({
      metric,
      labels: [...selector.matchAll(/(\w+)\s*[=!]/g)].map((match) => match[1] ?? ''),
    }))
    .filter(({ metric }) => !KEYWORDS.includes(metric))
}

/** The labels that an expression groups or matches by. */
export const groupingLabels = (expr: string): readonly string[] =>
  [...expr.matchAll(/\b(?:by|on)\s*\(([^)]*)\)/g)].flatMap((match) => (match[1] ?? '').split(/,\s*/))

/** From the text format of /metrics: each name of a sample, with the names of its labels. */
export function served(page: string): Map<string, Set<string>> {
  const names = new Map<string, Set<string>>()
  for (const line of page.split('\n')) {
    const match = /^([a-zA-Z_]\w*)(?:\{(.*)\})? /.exec(line)
    if (!match) continue
    const labels = names.get(match[1] ?? '') ?? new Set()
    for (const label of (match[2] ?? '').matchAll(/(\w+)="/g)) labels.add(label[1] ?? '')
    names.set(match[1] ?? '', labels)
  }
  return names
}
