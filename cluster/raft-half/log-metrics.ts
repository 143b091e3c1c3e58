/**
 * The disk use of the Raft log as metric samples.
 */
import { counter, gauge, histogram } from '../base/metric-samples.ts'
import type { MetricSample } from '../base/types.ts'
import type { WalMetrics } from '../wal/measured-file-ops.ts'

export function logMetrics({
  fsyncs,
  fsyncSecondsTotal,
  fsyncCounts,
  bytes,
  reserveBytes,
}: WalMetrics): readonly MetricSample[] {
  return [
    counter('holdfast_raft_log_fsyncs_total', 'Flushes of the Raft log to the disk', fsyncs),
    counter(
      'holdfast_raft_log_fsync_seconds_total',
      'Time spent in flushes of the Raft log',
      fsyncSecondsTotal,
    ),
    histogram('holdfast_raft_log_fsync_duration_seconds', 'Time of one flush of the Raft log', {
      counts: fsyncCounts,
      sum: fsyncSecondsTotal,
    }),
    counter('holdfast_raft_log_written_bytes_total', 'Bytes written to the Raft log', bytes),
    gauge(
      'holdfast_raft_log_reserve_bytes',
      'Space reserved for a full disk; 0 when none could be reserved or the reserve was released',
      reserveBytes,
    ),
  ]
}
