/**
 * The figures of a measured replication, and their table.
 *
 * Owns: what is divided by what. Knows nothing of: clusters. PURE.
 */
import { percentile } from './statistics.ts'

/** Changes that were written here and sent there. */
export interface SentSpan {
  readonly objects: number
  readonly bytes: number
  /** From the first request until the last one was acknowledged here. */
  readonly writtenSeconds: number
  /** From the first request until nothing waited to be sent. */
  readonly sentSeconds: number
  /** Of the nodes here and there in that time. */
  readonly processorHere: number
  readonly processorThere: number
  /** Ages of the oldest change that waited, as the status said from time to time. s */
  readonly lags: readonly number[]
}

export interface ReplicationFigures {
  readonly small: SentSpan
  readonly large: SentSpan
  /** From the acknowledgement of a single change until it could be read there, each while nothing else waited. ms */
  readonly single: readonly number[]
}

export function replicationTable({ small, large, single }: ReplicationFigures): readonly string[] {
  const sorted = Float64Array.from(single).sort()
  const at = (share: number): string => (percentile(sorted, share) ?? NaN).toFixed(0)
  return [
    '| what | wall s until acknowledged | wall s until there | objects/s | MB/s | processor s here | processor s there | largest lag s |',
    '|---|---:|---:|---:|---:|---:|---:|---:|',
    row(`${small.objects} objects of ${small.bytes / small.objects} bytes`, small),
    row(`${large.objects} objects of ${large.bytes / large.objects / 1024 ** 2} MiB`, large),
    '',
    `A single change: ${at(0.5)} ms from its acknowledgement until it is read there, at most ${at(1)} ms, of ${single.length}`,
  ]
}

function row(what: string, span: SentSpan): string {
  const { objects, bytes, writtenSeconds, sentSeconds, processorHere, processorThere, lags } = span
  const cells = [
    writtenSeconds.toFixed(2),
    sentSeconds.toFixed(2),
    (objects / sentSeconds).toFixed(2),
    (bytes / 1e6 / sentSeconds).toFixed(2),
    processorHere.toFixed(2),
    processorThere.toFixed(2),
    Math.max(0, ...lags).toFixed(2),
  ]
  return `| ${[what, ...cells].join(' | ')} |`
}
