/**
 * The metrics of the blob component, in the shape of Prometheus. Rule: no label names a blob or a caller.
 */
import type { LatencyFigures } from '../../base/latency-histogram.ts'
import { counter, gauge, histogram } from '../../base/metric-samples.ts'
import type { DiskPart, MetricSample } from '../../base/types.ts'
import type { DiskUsage } from '../base/blob-store.ts'
import { severityOf } from '../../base/disk-level.ts'
import type { BlobCounts } from '../disk/local-blobs.ts'

export interface BlobFacts {
  readonly counts: BlobCounts
  /** Null until the disk was measured for the first time. */
  readonly usage: DiskUsage | null
  readonly writesUnderWay: number
  readonly lateCopies: number
  readonly writeTimes: LatencyFigures
  readonly writeWaits: LatencyFigures
}

export function blobMetrics({
  counts,
  usage,
  writesUnderWay,
  lateCopies,
  writeTimes,
  writeWaits,
}: BlobFacts): readonly MetricSample[] {
  return [
    counter('holdfast_blob_read_bytes_total', "Bytes read from this node's blob files.", counts.readBytes),
    counter(
      'holdfast_blob_write_bytes_total',
      "Bytes made durable in this node's blob files.",
      counts.writtenBytes,
    ),
    counter(
      'holdfast_blobs_damaged_total',
      'Damaged copies of this node that were quarantined.',
      counts.damaged,
    ),
    gauge(
      'holdfast_blob_writes_in_flight',
      'Replicated blob writes in progress on this node.',
      writesUnderWay,
    ),
    gauge('holdfast_blob_late_copies', 'Copies that continue after their write was answered.', lateCopies),
    histogram(
      'holdfast_blob_write_duration_seconds',
      'From the beginning of a replicated blob write until enough copies are durable.',
      writeTimes,
    ),
    histogram(
      'holdfast_blob_write_wait_seconds',
      'Time that a replicated blob write waits until it may begin.',
      writeWaits,
    ),
    ...(usage === null ? [] : diskGauges(usage)),
  ]
}

/** Of a node with several disks, with the directory as a label. */
export function partGauges({ directory, status, totalBytes, freeBytes, doubt }: DiskPart): MetricSample[] {
  const isInUse = status === 'serving' || status === 'draining' || status === 'drained'
  return [
    gauge('holdfast_disk_in_use', '0 when this disk of the node is out.', isInUse ? 1 : 0, { directory }),
    gauge(
      'holdfast_disk_draining',
      '1 while this disk of the node is emptied.',
      status === 'draining' ? 1 : 0,
      {
        directory,
      },
    ),
    gauge(
      'holdfast_disk_doubted',
      '1 when this disk of the node returned errors or flushes slowly, and is in use.',
      isInUse && doubt !== undefined ? 1 : 0,
      { directory },
    ),
    gauge('holdfast_disk_total_bytes', 'Space of this disk of the node; 0 when it is out.', totalBytes, {
      directory,
    }),
    gauge('holdfast_disk_free_bytes', 'Space left for blobs on this disk of the node.', freeBytes, {
      directory,
    }),
  ]
}

function diskGauges({ totalBytes, freeBytes, level, isSuspect, disks = [] }: DiskUsage): MetricSample[] {
  return [
    gauge(
      'holdfast_blob_disk_total_bytes',
      'Space of the file system that holds the blobs, used or usable by this node.',
      totalBytes,
    ),
    gauge('holdfast_blob_disk_free_bytes', 'Space left for blobs on that file system.', freeBytes),
    gauge(
      'holdfast_blob_disk_level',
      '0 takes blobs, 1 prefers other nodes for new blobs, 2 refuses new blobs, 3 only removes and compacts.',
      severityOf(level),
    ),
    gauge(
      'holdfast_blob_disk_suspect',
      '1 when the disk failed several operations in a row since the start.',
      isSuspect ? 1 : 0,
    ),
    ...disks.flatMap(partGauges),
  ]
}
