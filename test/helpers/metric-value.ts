/**
 * One value of the metrics of a node.
 */
import type { MetricSample } from '../../cluster/index.ts'

/** Undefined: there is no such sample. */
export function metricValue(
  samples: readonly MetricSample[],
  name: string,
  wanted: Readonly<Record<string, string>> = {},
): number | undefined {
  return samples.find(
    ({ name: given, labels }) =>
      given === name && Object.entries(wanted).every(([label, value]) => labels?.[label] === value),
  )?.value
}
