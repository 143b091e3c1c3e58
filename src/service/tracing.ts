/**
 * Traces of one node: the tracer with its exporter, and the services of a node as pieces of traced requests.
 *
 * Rule: without `tracing.url` nothing of this exists, so that it costs nothing.
 */
import { randomBytes } from 'node:crypto'
import type { Logger, MetricSample } from '../../cluster/index.ts'
import { VERSION } from '../base/version.ts'
import type { Config } from '../config/types.ts'
import type { Services } from '../operations/base/services.ts'
import { otlpSpans } from '../telemetry/tracing/otlp-spans.ts'
import { SpanExporter } from '../telemetry/tracing/span-exporter.ts'
import { Tracer } from '../telemetry/tracing/tracer.ts'

export interface Tracing {
  readonly tracer: Tracer
  readonly samples: () => readonly MetricSample[]
  readonly close: () => Promise<void>
}

/** Null: this node traces nothing. */
export function openTracing({ tracing, node, cluster }: Config, logger: Logger): Tracing | null {
  if (tracing === null) return null
  const { url, sampledShare } = tracing
  const from = { version: VERSION, nodeId: node.id, clusterId: cluster.id }
  const exporter = new SpanExporter({
    url,
    encode: (spans) => otlpSpans(from, spans),
    onFailure: (why) => logger.warn({ url, why }, 'traces not delivered'),
  })
  const tracer = new Tracer({
    sampledShare,
    random: Math.random,
    newId: (bytes) => randomBytes(bytes).toString('hex'),
    now: () => performance.timeOrigin + performance.now(),
    onSpan: (span) => exporter.add(span),
  })
  return { tracer, samples: () => exporter.samples(), close: () => exporter.close() }
}

/** The same services; what they do for a traced request is a piece of it. */
export function tracedServices(services: Services, tracing: Tracing | null): Services {
  if (tracing === null) return services
  const { within } = tracing.tracer
  const { cluster, content } = services
  const propose = (...args: Parameters<Services['propose']>) =>
    within('propose', { command: args[0].type }, () => services.propose(...args))
  return {
    ...services,
    // Which reply belongs to which command is the promise of what it is handed on to.
    propose: propose as Services['propose'],
    cluster: { ...cluster, readBarrier: () => within('read barrier', {}, () => cluster.readBarrier()) },
    content: {
      customerSeal: (tenant, key, again) => content.customerSeal(tenant, key, again),
      checkCustomerKey: (tenant, key, sealed) => content.checkCustomerKey(tenant, key, sealed),
      ingest: (request) => within('store body', {}, () => content.ingest(request)),
      read: (tenant, object, range) => content.read(tenant, object, range),
      readAtHand: (tenant, object, range) => content.readAtHand(tenant, object, range),
    },
  }
}
