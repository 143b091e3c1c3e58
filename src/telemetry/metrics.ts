/**
 * The metrics of one node for Prometheus.
 *
 * Owns: the registry, the HTTP metrics, and the rendering of the samples of cluster/. Base units (seconds, bytes),
 * counters end in _total. Rule: labels are bounded: operation ids and status codes, never a tenant, bucket or key.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import {
  histogram,
  LATENCY_BOUNDS,
  LatencyHistogram,
  type MetricSample,
  sumOfFigures,
} from '../../cluster/index.ts'
import type { RequestTotals } from './history/history-point.ts'
import type { Api, Result } from './history/series.ts'

export interface RequestObservation {
  readonly api: Api
  readonly operation: string
  readonly status: number
  readonly seconds: number
  /** From the last byte of the request to the first of the answer; null: none was sent. */
  readonly firstByteSeconds: number | null
  readonly receivedBytes: number
  readonly sentBytes: number
}

export interface MetricsOptions {
  readonly version: string
  readonly nodeId: string
  /** Called at every scrape. */
  readonly samples: () => readonly MetricSample[] | Promise<readonly MetricSample[]>
  /** The same for what has to be read first. Absent: nothing. */
  readonly read?: () => Promise<readonly MetricSample[]>
}

/** Gauges that prom-client names `_total`, which promtool refuses; they are removed, the other defaults are kept. */
const MISNAMED_DEFAULTS = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]
const LATENCY_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/** What `nodejs_eventloop_lag_*` say contains this pause. The 10 ms of prom-client would wake an idle node a hundred times a second. */
const LAG_MEASURED_EVERY_MS = 100

const FIRST_BYTE = 'holdfast_http_time_to_first_byte_seconds'
const FIRST_BYTE_HELP =
  'From the last byte of the request to the first byte of the answer: the time of this node alone.'

/** What was counted of one API. */
interface ApiCounts {
  received: number
  sent: number
  inflight: number
}

interface OperationLabels extends Readonly<Record<string, string>> {
  readonly api: Api
  readonly operation: string
}

interface AnswerCount {
  readonly labels: OperationLabels & { readonly code: string }
  readonly result: Result
  count: number
}

interface FirstBytes {
  readonly labels: OperationLabels
  readonly latency: LatencyHistogram
}

/** The same for each request in a few additions: the registry hashes all labels each time, and gets the sums at a scrape. */
class RequestCounts {
  readonly #answers = new Map<string, AnswerCount>()
  readonly #byOperation = new Map<string, FirstBytes>()
  readonly #apis = new Map<Api, ApiCounts>()

  get answers(): Iterable<AnswerCount> {
    return this.#answers.values()
  }

  get apis(): Iterable<readonly [Api, ApiCounts]> {
    return this.#apis
  }

  of(api: Api): ApiCounts {
    const known = this.#apis.get(api)
    if (known !== undefined) return known
    const made = { received: 0, sent: 0, inflight: 0 }
    this.#apis.set(api, made)
    return made
  }

  firstByte({ api, operation }: RequestObservation, seconds: number): void {
    const name = `${api} ${operation}`
    const known = this.#byOperation.get(name) ?? {
      labels: { api, operation },
      latency: new LatencyHistogram(),
    }
    this.#byOperation.set(name, known)
    known.latency.observe(seconds)
  }

  samples(): readonly MetricSample[] {
    return [...this.#byOperation.values()].map(({ labels, latency }) =>
      histogram(FIRST_BYTE, FIRST_BYTE_HELP, latency.figures(), labels),
    )
  }

  answered({ api, operation, status }: RequestObservation): void {
    const name = `${api} ${operation} ${status}`
    const known = this.#answers.get(name)
    if (known !== undefined) known.count += 1
    else {
      const labels = { api, operation, code: String(status) }
      this.#answers.set(name, { labels, result: resultOf(status), count: 1 })
    }
  }

  totals(): RequestTotals {
    const none = () => ({ Ok: 0, Refused: 0, Failed: 0 })
    const requests = { native: none(), s3: none(), admin: none() }
    for (const { labels, result, count } of this.#answers.values()) requests[labels.api][result] += count
    const counts = [...this.#apis.values()]
    const ofData = [...this.#byOperation.values()].filter(({ labels }) => labels.api !== 'admin')
    return {
      requests,
      receivedBytes: counts.reduce((sum, { received }) => sum + received, 0),
      sentBytes: counts.reduce((sum, { sent }) => sum + sent, 0),
      answers: sumOfFigures(ofData.map(({ latency }) => latency.figures())),
    }
  }
}

function resultOf(status: number): Result {
  if (status < 400) return 'Ok'
  return status < 500 ? 'Refused' : 'Failed'
}

export class Metrics {
  readonly #registry = new Registry()
  readonly #samples: MetricsOptions['samples']
  readonly #read: () => Promise<readonly MetricSample[]>
  readonly #counts = new RequestCounts()
  readonly #duration: Histogram<'api' | 'operation'>

  constructor(options: MetricsOptions) {
    this.#samples = options.samples
    this.#read = options.read ?? (async () => [])
    const registers = [this.#registry]
    collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: LAG_MEASURED_EVERY_MS })
    for (const name of MISNAMED_DEFAULTS) this.#registry.removeSingleMetric(name)
    new Gauge({
      name: 'holdfast_build_info',
      help: 'Version of this node; always 1.',
      labelNames: ['version', 'node'],
      registers,
    }).set({ version: options.version, node: options.nodeId }, 1)
    registerCounts(this.#counts, registers)
    this.#duration = new Histogram({
      name: 'holdfast_http_request_duration_seconds',
      help: 'From the first header byte to the last byte of the answer.',
      labelNames: ['api', 'operation'],
      buckets: LATENCY_BUCKETS,
      registers,
    })
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  requestStarted(api: Api): void {
    this.#counts.of(api).inflight += 1
  }

  requestFinished(seen: RequestObservation): void {
    const { api, operation, seconds, firstByteSeconds, receivedBytes, sentBytes } = seen
    const counts = this.#counts.of(api)
    counts.inflight -= 1
    counts.received += receivedBytes
    counts.sent += sentBytes
    this.#counts.answered(seen)
    const labels = { api, operation }
    this.#duration.observe(labels, seconds)
    if (firstByteSeconds !== null) this.#counts.firstByte(seen, firstByteSeconds)
  }

  totals(): RequestTotals {
    return this.#counts.totals()
  }

  async render(): Promise<string> {
    const read = await this.#read()
    return `${await this.#registry.metrics()}\n${renderSamples([...this.#counts.samples(), ...(await this.#samples()), ...read])}`
  }
}

/** Metrics that show the counts as they are at a scrape. */
function registerCounts(counts: RequestCounts, registers: Registry[]): void {
  new Counter({
    name: 'holdfast_http_requests_total',
    help: 'Requests answered.',
    labelNames: ['api', 'operation', 'code'],
    registers,
    collect() {
      this.reset()
      for (const { labels, count } of counts.answers) this.inc(labels, count)
    },
  })
  new Counter({
    name: 'holdfast_http_received_bytes_total',
    help: 'Bytes of request bodies.',
    labelNames: ['api'],
    registers,
    collect() {
      this.reset()
      for (const [api, { received }] of counts.apis) this.inc({ api }, received)
    },
  })
  new Counter({
    name: 'holdfast_http_sent_bytes_total',
    help: 'Bytes of answer bodies.',
    labelNames: ['api'],
    registers,
    collect() {
      this.reset()
      for (const [api, { sent }] of counts.apis) this.inc({ api }, sent)
    },
  })
  new Gauge({
    name: 'holdfast_http_inflight_requests',
    help: 'Requests in progress.',
    labelNames: ['api'],
    registers,
    collect() {
      for (const [api, { inflight }] of counts.apis) this.set({ api }, inflight)
    },
  })
}

const escapeLabel = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

function renderRow({ name, labels = {}, value, latency }: MetricSample, lines: string[]): void {
  const pairs = Object.entries(labels).map(([key, text]) => `${key}="${escapeLabel(text)}"`)
  const row = (suffix: string, amount: number, more: readonly string[] = []): void => {
    const all = [...pairs, ...more]
    lines.push(`${name}${suffix}${all.length > 0 ? `{${all.join(',')}}` : ''} ${amount}`)
  }
  if (latency === undefined) return row('', value)
  let count = 0
  for (const [at, own] of latency.counts.entries()) {
    count += own
    row('_bucket', count, [`le="${LATENCY_BOUNDS[at] ?? '+Inf'}"`])
  }
  row('_sum', latency.sum)
  row('_count', count)
}

/** Prometheus text format 0.0.4; all samples of one name follow one HELP and TYPE. */
export function renderSamples(samples: readonly MetricSample[]): string {
  const lines: string[] = []
  for (const name of new Set(samples.map((sample) => sample.name))) {
    const rows = samples.filter((sample) => sample.name === name)
    lines.push(`# HELP ${name} ${rows[0]?.help ?? ''}`, `# TYPE ${name} ${rows[0]?.kind ?? 'gauge'}`)
    for (const row of rows) renderRow(row, lines)
  }
  return lines.length > 0 ? `${lines.join('\n')}\n` : ''
}
