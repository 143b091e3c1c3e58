/**
 * What happened between two readings of the counters of a node, as one point of the history.
 *
 * Owns: the arithmetic. PURE. Rule: nothing to measure is NaN and not 0, so that a chart shows a gap; a counter that fell began again.
 */
import { LATENCY_BOUNDS, type LatencyFigures, type MetricSample } from '../../../cluster/index.ts'
import type { Api, Point, Result } from './series.ts'

/** All since the start of the node. */
export interface RequestTotals {
  readonly requests: Readonly<Record<Api, Readonly<Record<Result, number>>>>
  readonly receivedBytes: number
  readonly sentBytes: number
  /** Seconds from the last byte of a request to the first of its answer, without the admin API. */
  readonly answers: LatencyFigures
}

export interface Reading {
  readonly atMs: number
  readonly totals: RequestTotals
  readonly samples: readonly MetricSample[]
  /** Of the time between the readings, in seconds. */
  readonly eventLoopP99: number
  readonly memory: number
  readonly heap: number
}

export function pointOf(before: Reading, after: Reading): Point {
  const seconds = (after.atMs - before.atMs) / 1000
  const rate = (of: (totals: RequestTotals) => number): number =>
    seconds > 0 ? grown(of(before.totals), of(after.totals)) / seconds : NaN
  const requests = (api: Api, result: Result): number => rate((totals) => totals.requests[api][result])
  const answers = difference(before.totals.answers, after.totals.answers)
  return {
    nativeOk: requests('native', 'Ok'),
    nativeRefused: requests('native', 'Refused'),
    nativeFailed: requests('native', 'Failed'),
    s3Ok: requests('s3', 'Ok'),
    s3Refused: requests('s3', 'Refused'),
    s3Failed: requests('s3', 'Failed'),
    adminOk: requests('admin', 'Ok'),
    adminRefused: requests('admin', 'Refused'),
    adminFailed: requests('admin', 'Failed'),
    receivedBytes: rate((totals) => totals.receivedBytes),
    sentBytes: rate((totals) => totals.sentBytes),
    answerP50: quantile(answers, 0.5),
    answerP99: quantile(answers, 0.99),
    flushP99: quantileOf(before, after, 'holdfast_raft_log_fsync_duration_seconds'),
    commitP99: quantileOf(before, after, 'holdfast_raft_commit_duration_seconds'),
    followerLag: followerLag(after),
    unapplied: valueOf(after, 'holdfast_raft_commit_index') - valueOf(after, 'holdfast_raft_applied_index'),
    diskUsed:
      valueOf(after, 'holdfast_blob_disk_total_bytes') - valueOf(after, 'holdfast_blob_disk_free_bytes'),
    diskTotal: valueOf(after, 'holdfast_blob_disk_total_bytes'),
    eventLoopP99: after.eventLoopP99,
    memory: after.memory,
    heap: after.heap,
  }
}

const grown = (before: number, after: number): number => (after >= before ? after - before : after)

/** NaN where there is no such sample. */
const valueOf = ({ samples }: Reading, name: string): number =>
  samples.find((sample) => sample.name === name)?.value ?? NaN

function followerLag(after: Reading): number {
  const last = valueOf(after, 'holdfast_raft_last_log_index')
  const matched = after.samples.flatMap(({ name, value }) =>
    name === 'holdfast_raft_peer_match_index' ? value : [],
  )
  return matched.length === 0 ? NaN : Math.max(0, last - Math.min(...matched))
}

function quantileOf(before: Reading, after: Reading, name: string): number {
  const figures = ({ samples }: Reading) => samples.find((sample) => sample.name === name)?.latency
  const [earlier, later] = [figures(before), figures(after)]
  return later === undefined ? NaN : quantile(difference(earlier, later), 0.99)
}

/** Observations in each bucket between two readings. */
function difference(before: LatencyFigures | undefined, after: LatencyFigures): readonly number[] {
  return after.counts.map((count, at) => grown(before?.counts[at] ?? 0, count))
}

/**
 * As `histogram_quantile` of Prometheus has it: evenly spread inside of a bucket, and the last bound for what is above all. `counts` are those of the buckets of
 * LATENCY_BOUNDS. NaN without observations.
 */
export function quantile(counts: readonly number[], share: number): number {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return NaN
  const rank = share * total
  let below = 0
  for (const [at, count] of counts.entries()) {
    const bound = LATENCY_BOUNDS[at]
    if (bound === undefined) break
    if (below + count >= rank && count > 0) {
      const from = LATENCY_BOUNDS[at - 1] ?? 0
      return from + ((bound - from) * (rank - below)) / count
    }
    below += count
  }
  return LATENCY_BOUNDS.at(-1) ?? NaN
}
