/**
 * Spans as the body of an export request. [OTLP 1.3, JSON]
 */
import type { Attributes, Span } from './tracer.ts'

/** [OTLP: SpanKind, StatusCode] */
const KIND = { internal: 1, server: 2 } as const
const STATUS_ERROR = 2

export interface Exporter {
  readonly version: string
  readonly nodeId: string
  readonly clusterId: string
}

export function otlpSpans({ version, nodeId, clusterId }: Exporter, spans: readonly Span[]): string {
  const resource = {
    'service.name': 'holdfast',
    'service.version': version,
    'service.instance.id': nodeId,
    'service.namespace': clusterId,
  }
  const scope = { name: 'holdfast', version }
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: pairs(resource) },
        scopeSpans: [{ scope, spans: spans.map((span) => otlpSpan(span)) }],
      },
    ],
  })
}

function otlpSpan({ traceId, spanId, parentId, name, isServer, startMs, endMs, attributes, error }: Span) {
  return {
    traceId,
    spanId,
    ...(parentId === null ? {} : { parentSpanId: parentId }),
    name,
    kind: isServer ? KIND.server : KIND.internal,
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(endMs),
    attributes: pairs(attributes),
    ...(error === null ? {} : { status: { code: STATUS_ERROR, message: error } }),
  }
}

/** A 64-bit integer is a text in JSON. [OTLP: JSON Protobuf encoding] */
const nanoseconds = (ms: number): string => `${Math.round(ms * 1000)}000`

const pairs = (attributes: Attributes) =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: valueOf(value) }))

function valueOf(value: string | number | boolean) {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}
