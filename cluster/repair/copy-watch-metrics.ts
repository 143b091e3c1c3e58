/**
 * The metrics of the watch over copies, in the shape of Prometheus.
 */
import { counter, gauge } from '../base/metric-samples.ts'
import type { MetricSample } from '../base/types.ts'
import type { CopyWatchStatus } from './copy-watch.ts'

export function copyWatchMetrics(
  { scrub, inventory, directoriesLost }: CopyWatchStatus,
  scrubEveryMs: number,
): readonly MetricSample[] {
  return [
    gauge(
      'holdfast_scrub_period_seconds',
      'No copy of this node should stay unread for longer than this.',
      scrubEveryMs / 1000,
    ),
    counter('holdfast_scrub_copies_total', 'Copies of this node that the scrub checked.', scrub.copies),
    counter('holdfast_scrub_bytes_total', 'Bytes of copies that the scrub read back.', scrub.bytes),
    counter('holdfast_scrub_lost_total', 'Copies that the scrub found damaged or missing.', scrub.lost),
    counter('holdfast_scrub_removed_total', 'Abandoned copies that the scrub removed.', scrub.removed),
    gauge(
      'holdfast_scrub_progress_ratio',
      'Share of the current scrub that is done; 1 between two scrubs.',
      scrub.progress,
    ),
    ...time('holdfast_scrub_started_timestamp_seconds', 'When the last scrub started.', scrub.startedAt),
    ...time('holdfast_scrub_last_full_timestamp_seconds', 'When a scrub last completed.', scrub.lastFullAt),
    counter(
      'holdfast_inventory_runs_total',
      'Times that all rows of this node were compared with its disk.',
      inventory.runs,
    ),
    counter(
      'holdfast_inventory_lost_total',
      'Copies that the inventory found missing or with a wrong frame.',
      inventory.lost,
    ),
    counter(
      'holdfast_blob_directory_lost_total',
      'Times that the blob directory was found missing and was opened again.',
      directoriesLost,
    ),
  ]
}

/** Absent until there is such a time: a query that compares it with the present would take 0 for 1970. */
function time(name: string, help: string, ms: number | null): MetricSample[] {
  return ms === null ? [] : [gauge(name, help, ms / 1000)]
}
