/**
 * The span of each request of one server, and that of its answer.
 *
 * Owns: which requests are traced, and what a span says of them. Rule: probes, scrapes and other routine requests are not traced; no span names a
 * key, a query or a header.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { parseTraceparent } from '../telemetry/tracing/trace-context.ts'
import type { OpenSpan, Tracer } from '../telemetry/tracing/tracer.ts'
import { Exchange } from './exchange.ts'
import { RequestAudit } from './request-audit.ts'

const SERVER_ERROR = 500

/** Before the server listens. */
export function traceRequests(server: FastifyInstance, tracer: Tracer): void {
  server.addHook('onRequest', (request, reply, done) => {
    const { config } = request.routeOptions
    if (config.operation?.isRoutine === true || config.auth === 'none') return done()
    const { traceparent } = request.headers
    const opened = tracer.open(parseTraceparent(typeof traceparent === 'string' ? traceparent : undefined))
    if (opened === null) return done()
    const exchange = Exchange.of(request.raw, reply.raw)
    exchange.traceId = opened.traceId
    // Its other times are those of the exchange, which began a little earlier.
    const span = { ...opened, startMs: opened.startMs - (performance.now() - exchange.startedMs) }
    reply.raw.once('close', () => closeSpan(tracer, span, { request, reply }))
    tracer.run(span, done)
  })
}

function closeSpan(
  tracer: Tracer,
  span: OpenSpan,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): void {
  const exchange = Exchange.of(request.raw, reply.raw)
  const { operation, principal } = RequestAudit.of(request)
  const { statusCode, writableFinished } = reply.raw
  if (exchange.provedMs !== null) {
    const provedMs = span.startMs + exchange.provedMs - exchange.startedMs
    tracer.note(span, { name: 'authenticate', startMs: span.startMs, endMs: provedMs, attributes: {} })
  }
  const endMs = span.startMs + performance.now() - exchange.startedMs
  if (exchange.answeredMs !== null) {
    const startMs = span.startMs + exchange.answeredMs - exchange.startedMs
    tracer.note(span, { name: 'answer', startMs, endMs, attributes: { bytes: exchange.sentBytes } })
  }
  const tenant = principal?.tenantId ?? null
  tracer.close(span, {
    name: operation,
    attributes: {
      'http.request.method': request.method,
      'http.response.status_code': statusCode,
      'http.request.body.size': exchange.receivedBytes,
      'holdfast.request_id': request.id,
      ...(tenant === null ? {} : { 'holdfast.tenant': tenant }),
    },
    error: writableFinished && statusCode < SERVER_ERROR ? null : failureOf(statusCode, writableFinished),
  })
}

const failureOf = (status: number, isFinished: boolean): string =>
  isFinished ? `status ${status}` : 'the client left before the end of the answer'
