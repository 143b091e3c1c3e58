/**
 * The metrics of the repair component, in the shape of Prometheus.
 */
import type { MetricSample } from '../base/types.ts'

export interface RepairFacts {
  readonly done: number
  readonly failed: number
  readonly bytes: number
  /** As of the last poll; bounded by the limit of a poll. */
  readonly pending: number
  /** The pending copies that wait for the disk. */
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
    {
      ...sample('holdfast_repair_pending', 'Copies that this node still has to make.', pending),
      kind: 'gauge',
    },
    {
      ...sample(
        'holdfast_repair_waiting',
        'Pending copies that wait because this disk is full or suspect.',
        waiting,
      ),
      kind: 'gauge',
    },
  ]
}

function sample(name: string, help: string, value: number): MetricSample {
  return { name, help, kind: 'counter', value }
}
