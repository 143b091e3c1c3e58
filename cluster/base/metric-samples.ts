/**
 * Metric samples by kind. Rule: names and labels are said where the figure is known.
 */
import type { LatencyFigures } from './latency-histogram.ts'
import type { MetricSample } from './types.ts'

type Labels = NonNullable<MetricSample['labels']>

export function gauge(name: string, help: string, value: number, labels?: Labels): MetricSample {
  return { name, help, kind: 'gauge', value, ...(labels === undefined ? {} : { labels }) }
}

export function counter(name: string, help: string, value: number, labels?: Labels): MetricSample {
  return { name, help, kind: 'counter', value, ...(labels === undefined ? {} : { labels }) }
}

/** The name ends in _seconds. */
export function histogram(
  name: string,
  help: string,
  latency: LatencyFigures,
  labels?: Labels,
): MetricSample {
  const value = latency.counts.reduce((sum, count) => sum + count, 0)
  return { name, help, kind: 'histogram', value, latency, ...(labels === undefined ? {} : { labels }) }
}
