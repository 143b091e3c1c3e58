/**
 * What the watch over copies tells about itself, as Prometheus-shaped facts.
 */
import type { MetricSample } from '../base/types.ts'
import type { CopyWatchStatus } from './copy-watch.ts'

export function copyWatchMetrics(
  { scrub, inventory, directoriesLost }: CopyWatchStatus,
  scrubEveryMs: number,
): readonly MetricSample[] {
  return [
    gauge(
      'holdfast_scrub_period_seconds',
      'No copy of this node should stay unread for longer.',
      scrubEveryMs / 1000,
    ),
    counter('holdfast_scrub_copies_total', 'Copies of this node that the scrub looked at.', scrub.copies),
    counter('holdfast_scrub_bytes_total', 'Bytes of copies that the scrub read back.', scrub.bytes),
    counter('holdfast_scrub_lost_total', 'Copies that the scrub found damaged or gone.', scrub.lost),
    counter('holdfast_scrub_removed_total', 'Abandoned copies that the scrub removed.', scrub.removed),
    gauge(
      'holdfast_scrub_progress_ratio',
      'Share of the scrub under way that is done; 1 between two.',
      scrub.progress,
    ),
    ...time('holdfast_scrub_started_timestamp_seconds', 'When the last scrub began.', scrub.startedAt),
    ...time(
      'holdfast_scrub_last_full_timestamp_seconds',
      'When a scrub last came to its end.',
      scrub.lastFullAt,
    ),
    counter(
      'holdfast_inventory_runs_total',
      'Times that all rows of this node were compared with its disk.',
      inventory.runs,
    ),
    counter(
      'holdfast_inventory_lost_total',
      'Copies that the inventory found gone or of a wrong frame.',
      inventory.lost,
    ),
    counter(
      'holdfast_blob_directory_lost_total',
      'Times that the blob directory was found gone and opened anew.',
      directoriesLost,
    ),
  ]
}

function counter(name: string, help: string, value: number): MetricSample {
  return { name, help, kind: 'counter', value }
}

function gauge(name: string, help: string, value: number): MetricSample {
  return { name, help, kind: 'gauge', value }
}

/** Absent until there is such a time: 0 would be 1970 to whoever compares it with now. */
function time(name: string, help: string, ms: number | null): MetricSample[] {
  return ms === null ? [] : [gauge(name, help, ms / 1000)]
}
