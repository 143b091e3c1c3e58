/**
 * The figures of all nodes over days and weeks, from a Prometheus that scrapes them.
 *
 * Owns: the requests, their bounds, and how their answers are read. Rules: only the fixed queries of prometheus-queries.ts are sent, a few at a time; an
 * answer comes from another program and is checked before it is used; the first failure ends the whole.
 */
import { Agent, request } from 'undici'
import { queriesOf } from './prometheus-queries.ts'
import { bySeries, SERIES, type SeriesName, type Values } from './series.ts'

const QUERIES_AT_ONCE_MAX = 4
const QUERY_MS_MAX = 10_000
const ANSWER_BYTES_MAX = 4 * 1024 * 1024
const NODES_MAX = 64
const MESSAGE_CHARS_MAX = 300
const USER_AGENT = 'holdfast-console/1'
/** A rate needs two scrapes in its window, and Prometheus scrapes once a minute by default. */
const WINDOW_SECONDS_LEAST = 150

/** Its message is for operators: what Prometheus answers, or why it does not. */
export class PrometheusError extends Error {}

export interface PrometheusParts {
  /** Where its API begins, without `/api/v1`. */
  readonly url: string
  /** The job under which it scrapes the nodes. */
  readonly job: string
}

/** `points` values, `stepSeconds` apart, the last one at `endSeconds` since 1970. */
export interface Span {
  readonly endSeconds: number
  readonly stepSeconds: number
  readonly points: number
}

/** By node; NaN where there is no value. */
export type NodeSeries = ReadonlyMap<string, Values>

export class Prometheus {
  readonly #parts: PrometheusParts
  readonly #agent = new Agent({ connections: QUERIES_AT_ONCE_MAX, allowH2: false })

  constructor(parts: PrometheusParts) {
    this.#parts = parts
  }

  /** Throws PrometheusError. */
  async read(span: Span): Promise<NodeSeries> {
    const { job } = this.#parts
    const queries = queriesOf(job, Math.max(WINDOW_SECONDS_LEAST, span.stepSeconds))
    const nodes = new Map<string, Record<SeriesName, Float64Array>>()
    const left = [...SERIES]
    const ended = new AbortController()
    const work = async (): Promise<void> => {
      for (let name = left.shift(); name !== undefined; name = left.shift()) {
        const text = await this.#ask(queries[name], span, ended.signal)
        for (const [node, values] of valuesIn(text, span)) {
          const known = nodes.get(node) ?? { ...bySeries(() => emptyGrid(span)) }
          nodes.set(node, known)
          known[name] = values
        }
      }
    }
    try {
      await Promise.all(Array.from({ length: QUERIES_AT_ONCE_MAX }, work))
      return nodes
    } finally {
      ended.abort()
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy()
  }

  async #ask(query: string, { endSeconds, stepSeconds, points }: Span, ended: AbortSignal): Promise<string> {
    const form = new URLSearchParams({
      query,
      start: `${endSeconds - stepSeconds * (points - 1)}`,
      end: `${endSeconds}`,
      step: `${stepSeconds}`,
    })
    try {
      const { statusCode, body } = await request(
        `${this.#parts.url.replace(/\/+$/, '')}/api/v1/query_range`,
        {
          method: 'POST',
          dispatcher: this.#agent,
          headers: { 'content-type': 'application/x-www-form-urlencoded', 'user-agent': USER_AGENT },
          body: form.toString(),
          signal: AbortSignal.any([ended, AbortSignal.timeout(QUERY_MS_MAX)]),
        },
      )
      const text = await boundedText(body)
      if (statusCode !== 200) throw new PrometheusError(refusalIn(statusCode, text))
      return text
    } catch (error) {
      if (error instanceof PrometheusError) throw error
      const why = error instanceof Error ? error.message : String(error)
      throw new PrometheusError(`Prometheus does not answer: ${why.slice(0, MESSAGE_CHARS_MAX)}`, {
        cause: error,
      })
    }
  }
}

async function boundedText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of body) {
    length += piece.length
    if (length > ANSWER_BYTES_MAX)
      throw new PrometheusError(`Prometheus answers with more than ${ANSWER_BYTES_MAX} bytes`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? { ...value } : {})

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new PrometheusError('Prometheus did not answer with JSON: is metrics.prometheus_url right?', {
      cause,
    })
  }
}

function refusalIn(statusCode: number, text: string): string {
  let error: unknown = null
  try {
    error = fieldsOf(JSON.parse(text))['error']
  } catch {
    // A proxy in between answers with HTML.
  }
  const what = typeof error === 'string' ? `: ${error.slice(0, MESSAGE_CHARS_MAX)}` : ''
  return `Prometheus answers ${statusCode}${what}`
}

/** Values by node, on the grid of the span. Throws PrometheusError. */
function valuesIn(text: string, span: Span): ReadonlyMap<string, Float64Array> {
  const { status, data } = fieldsOf(parsed(text))
  const { resultType, result } = fieldsOf(data)
  if (status !== 'success' || resultType !== 'matrix' || !Array.isArray(result) || result.length > NODES_MAX)
    throw new PrometheusError(`Prometheus did not answer with a matrix of at most ${NODES_MAX} nodes`)
  const found = new Map<string, Float64Array>()
  for (const row of result) {
    const { metric, values } = fieldsOf(row)
    const { node } = fieldsOf(metric)
    if (typeof node !== 'string' || !Array.isArray(values))
      throw new PrometheusError('Prometheus answers with a row without a node or without values')
    found.set(node, onGrid(values, span))
  }
  return found
}

const emptyGrid = ({ points }: Span): Float64Array => new Float64Array(points).fill(NaN)

function onGrid(values: readonly unknown[], span: Span): Float64Array {
  const { endSeconds, stepSeconds, points } = span
  const grid = emptyGrid(span)
  for (const pair of values) {
    const [at, value] = Array.isArray(pair) ? (pair as readonly unknown[]) : []
    if (typeof at !== 'number' || typeof value !== 'string')
      throw new PrometheusError('Prometheus answers with a value without a time or a number')
    const point = points - 1 - Math.round((endSeconds - at) / stepSeconds)
    const number = Number(value)
    if (point >= 0 && point < points && Number.isFinite(number)) grid[point] = number
  }
  return grid
}
