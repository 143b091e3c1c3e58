/**
 * What the repair room tells about itself, as Prometheus-shaped facts.
 */
import type { MetricSample } from '../base/types.ts'

export interface RepairFacts {
  readonly done: number
  readonly failed: number
  readonly bytes: number
  /** As of the last poll; counts only as far as a poll looks. */
  readonly pending: number
  /** Of those. */
  readonly waiting: number
}

export function repairMetrics({
  done,
  failed,
  bytes,
  pending,
  waiting,
}: RepairFacts): readonly MetricSample[] {
  return [
    sample('holdfast_repair_done_total', 'Copies made, read back and committed by this node.', done),
    sample(
      'holdfast_repair_failed_total',
      'Attempts to make a copy that failed; each is tried again.',
      failed,
    ),
    sample('holdfast_repair_bytes_total', 'Bytes fetched from other nodes for copies.', bytes),
    { ...sample('holdfast_repair_pending', 'Copies this node still has to make.', pending), kind: 'gauge' },
    {
      ...sample('holdfast_repair_waiting', 'Of those: they wait for this disk, full or suspect.', waiting),
      kind: 'gauge',
    },
  ]
}

function sample(name: string, help: string, value: number): MetricSample {
  return { name, help, kind: 'counter', value }
}
