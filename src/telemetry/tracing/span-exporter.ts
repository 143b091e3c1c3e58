/**
 * Sends spans to a collector by OTLP over HTTP.
 *
 * Owns: the queue and its counts. Rules: the queue is bounded, and what does not fit is dropped and counted: a collector that is slow or gone
 * costs spans and never a request. One batch is sent at a time, and none a second time.
 */
import { Agent, request } from 'undici'
import { counter, type MetricSample } from '../../../cluster/index.ts'
import type { Span } from './tracer.ts'

const QUEUE_SPANS_MAX = 4096
const BATCH_SPANS_MAX = 512
const SEND_EVERY_MS = 1000
const SEND_MS_MAX = 10_000
/** At the end of the node. */
const LAST_MS_MAX = 2000
const USER_AGENT = 'holdfast-tracing/1'

export interface SpanExporterParts {
  readonly url: string
  readonly encode: (spans: readonly Span[]) => string
  /** Of the first failure after a success. */
  readonly onFailure: (why: string) => void
}

export class SpanExporter {
  readonly #parts: SpanExporterParts
  readonly #agent = new Agent({ connections: 1, allowH2: false })
  #queue: Span[] = []
  #timer: NodeJS.Timeout | null = null
  #sending: Promise<void> | null = null
  #isFailing = false
  readonly #counts = { exported: 0, droppedFull: 0, droppedUnsent: 0 }

  constructor(parts: SpanExporterParts) {
    this.#parts = parts
  }

  add(span: Span): void {
    if (this.#queue.length >= QUEUE_SPANS_MAX) {
      this.#counts.droppedFull += 1
      return
    }
    this.#queue.push(span)
    if (this.#queue.length >= BATCH_SPANS_MAX) void this.#sendAll()
    else this.#timer ??= setTimeout(() => void this.#sendAll(), SEND_EVERY_MS).unref()
  }

  samples(): readonly MetricSample[] {
    const { exported, droppedFull, droppedUnsent } = this.#counts
    const dropped = (reason: string, count: number): MetricSample =>
      counter('holdfast_tracing_dropped_spans_total', 'Spans that no collector got.', count, { reason })
    return [
      counter('holdfast_tracing_exported_spans_total', 'Spans that the collector accepted.', exported),
      dropped('queue_full', droppedFull),
      dropped('not_sent', droppedUnsent),
    ]
  }

  /** What waits is sent once more, within a short time. */
  async close(): Promise<void> {
    const late = setTimeout(() => void this.#agent.destroy(), LAST_MS_MAX)
    await this.#sendAll()
    clearTimeout(late)
    await this.#agent.destroy()
  }

  #sendAll(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#sending ??= this.#send().finally(() => {
      this.#sending = null
    })
    return this.#sending
  }

  async #send(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#queue.slice(0, BATCH_SPANS_MAX)
      this.#queue = this.#queue.slice(batch.length)
      const why = await this.#post(this.#parts.encode(batch))
      if (why === null) this.#counts.exported += batch.length
      else this.#counts.droppedUnsent += batch.length
      if (why !== null && !this.#isFailing) this.#parts.onFailure(why)
      this.#isFailing = why !== null
    }
  }

  /** Null: it was accepted. */
  async #post(body: string): Promise<string | null> {
    try {
      const { statusCode, body: answer } = await request(this.#parts.url, {
        method: 'POST',
        dispatcher: this.#agent,
        headers: { 'content-type': 'application/json', 'user-agent': USER_AGENT },
        body,
        signal: AbortSignal.timeout(SEND_MS_MAX),
      })
      await answer.dump()
      return statusCode >= 200 && statusCode < 300 ? null : `The collector answered ${statusCode}`
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }
}
