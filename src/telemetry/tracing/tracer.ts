/**
 * Traces of requests: which pieces of work belong to one, and how long each took.
 *
 * Owns: spans, and which request the present work is for. Knows nothing of: requests, exports. Rule: work outside of a traced request is
 * done as if there were no tracer; what a span measures is never changed by it.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { PeerTraces } from '../../../cluster/index.ts'
import { parseTraceparent, type TraceContext, writeTraceparent } from './trace-context.ts'

export type Attributes = Readonly<Record<string, string | number | boolean>>

/** Times in milliseconds since 1970, with fractions. */
export interface Span {
  readonly traceId: string
  readonly spanId: string
  /** Null: the trace begins with it. */
  readonly parentId: string | null
  readonly name: string
  readonly isServer: boolean
  readonly startMs: number
  readonly endMs: number
  readonly attributes: Attributes
  /** What went wrong; null: nothing. */
  readonly error: string | null
}

export interface TracerParts {
  /** Of requests without a caller that has decided it, 0 to 1. */
  readonly sampledShare: number
  /** 0 to 1. */
  readonly random: () => number
  /** So many random bytes as hexadecimal digits. */
  readonly newId: (bytes: number) => string
  /** Milliseconds since 1970, with fractions. */
  readonly now: () => number
  readonly onSpan: (span: Span) => void
}

/** A span that has not ended. */
export interface OpenSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentId: string | null
  readonly startMs: number
}

export class Tracer {
  readonly #parts: TracerParts
  readonly #present = new AsyncLocalStorage<OpenSpan>()

  constructor(parts: TracerParts) {
    this.#parts = parts
  }

  /** For a request that arrives now; null: it is not sampled. */
  open(caller: TraceContext | null): OpenSpan | null {
    const { sampledShare, random, newId, now } = this.#parts
    const isSampled = caller === null ? random() < sampledShare : caller.isSampled
    if (!isSampled) return null
    const traceId = caller?.traceId ?? newId(16)
    return { traceId, spanId: newId(8), parentId: caller?.spanId ?? null, startMs: now() }
  }

  /** What `work` starts belongs to the span. */
  run<T>(span: OpenSpan, work: () => T): T {
    return this.#present.run(span, work)
  }

  close(span: OpenSpan, ended: Pick<Span, 'name' | 'attributes' | 'error'>): void {
    this.#parts.onSpan({ ...span, ...ended, isServer: true, endMs: this.#parts.now() })
  }

  /** A piece of work of the span that was measured elsewhere. */
  note(
    of: Pick<OpenSpan, 'traceId' | 'spanId'>,
    piece: Pick<Span, 'name' | 'startMs' | 'endMs' | 'attributes'>,
  ): void {
    const { traceId, spanId: parentId } = of
    const spanId = this.#parts.newId(8)
    this.#parts.onSpan({ ...piece, traceId, spanId, parentId, isServer: false, error: null })
  }

  /** Runs the work as a piece of the present one. Settles as it does. */
  within = async <T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T> => {
    const parent = this.#present.getStore()
    return parent === undefined ? work() : this.#measure(parent, { name, attributes }, work)
  }

  /** Spans of other nodes: their work here, and ours there. */
  readonly peers: PeerTraces = {
    present: () => {
      const span = this.#present.getStore()
      return span === undefined ? null : writeTraceparent(span)
    },
    within: (of, { name, attributes }, work) => {
      const parent = parseTraceparent(of)
      return parent === null ? work() : this.#measure(parent, { name, attributes }, work)
    },
    note: (of, { name, startAgoMs, endAgoMs, attributes }) => {
      const parent = parseTraceparent(of)
      if (parent === null) return
      const now = this.#parts.now()
      this.note(parent, { name, startMs: now - startAgoMs, endMs: now - endAgoMs, attributes })
    },
  }

  async #measure<T>(
    parent: Pick<OpenSpan, 'traceId' | 'spanId'>,
    { name, attributes }: Pick<Span, 'name' | 'attributes'>,
    work: () => Promise<T>,
  ): Promise<T> {
    const { newId, now, onSpan } = this.#parts
    const { traceId, spanId: parentId } = parent
    const span = { traceId, spanId: newId(8), parentId, startMs: now() }
    const end = (error: string | null): void =>
      onSpan({ ...span, name, attributes, isServer: false, endMs: now(), error })
    try {
      const value = await this.#present.run(span, work)
      end(null)
      return value
    } catch (error) {
      end(error instanceof Error ? error.message : String(error))
      throw error
    }
  }
}
