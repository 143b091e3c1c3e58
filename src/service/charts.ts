/**
 * The charts of one node: the figures that it records of itself every ten seconds, and the Prometheus that it asks for longer ranges.
 *
 * Owns: the timer, and when counters are read. Knows nothing of: what a point is made of. Rule: a reading that fails leaves a gap, is logged once, and never affects requests.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Cluster, Logger } from '../../cluster/index.ts'
import type { Config } from '../config/types.ts'
import { writeHistory } from '../telemetry/history/history-bytes.ts'
import { pointOf, type Reading } from '../telemetry/history/history-point.ts'
import { HistoryRing } from '../telemetry/history/history-ring.ts'
import { Prometheus } from '../telemetry/history/prometheus.ts'
import { HISTORY_EVERY_MS } from '../telemetry/history/series.ts'
import type { Metrics } from '../telemetry/metrics.ts'

/** A delay is measured against a timer of this length; a shorter one would wake an idle node more often. */
const LOOP_MEASURED_EVERY_MS = 100
const NANOS_PER_SECOND = 1e9

export interface RecordingParts {
  readonly cluster: Pick<Cluster, 'metrics' | 'histories'>
  readonly metrics: Pick<Metrics, 'totals'>
  readonly logger: Logger
}

/** Returns what stops it. */
export function startRecording({ cluster, metrics, logger }: RecordingParts): () => void {
  const ring = new HistoryRing()
  cluster.histories.open(() => writeHistory(ring))
  const loop = monitorEventLoopDelay({ resolution: LOOP_MEASURED_EVERY_MS })
  loop.enable()
  let before: Reading | null = null
  let timer: NodeJS.Timeout | null = null
  let hasEnded = false
  let isFailing = false
  const read = async (): Promise<Reading> => {
    const late = loop.percentile(99) / NANOS_PER_SECOND - LOOP_MEASURED_EVERY_MS / 1000
    loop.reset()
    const { rss: memory, heapUsed: heap } = process.memoryUsage()
    const samples = await cluster.metrics()
    return {
      atMs: Date.now(),
      totals: metrics.totals(),
      samples,
      eventLoopP99: Math.max(0, late),
      memory,
      heap,
    }
  }
  const record = async (): Promise<void> => {
    try {
      const after = await read()
      const interval = Math.floor(after.atMs / HISTORY_EVERY_MS) - 1
      if (before !== null && interval >= 0) ring.push(interval, pointOf(before, after))
      before = after
      isFailing = false
    } catch (err) {
      if (!isFailing) logger.warn({ err }, 'figures for charts not recorded')
      isFailing = true
    }
    if (!hasEnded) wait()
  }
  const wait = (): void => {
    timer = setTimeout(() => void record(), HISTORY_EVERY_MS - (Date.now() % HISTORY_EVERY_MS)).unref()
  }
  void record()
  return () => {
    hasEnded = true
    if (timer !== null) clearTimeout(timer)
    loop.disable()
  }
}

/** Null: none is configured. */
export function openPrometheus({ metrics: { prometheus } }: Config): Prometheus | null {
  return prometheus === null ? null : new Prometheus(prometheus)
}
