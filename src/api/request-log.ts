/**
 * One observation for each request, and a log line for those that did not go well or took long, or for all of them where that is set; written when
 * its connection is done with the request. Repeated refusals share a line.
 *
 * Rule: the path is logged without its query, which may hold a token; of the headers only the user agent, and no body is ever logged.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Services } from '../operations/base/services.ts'
import type { RequestObservation } from '../telemetry/metrics.ts'
import { clientAddress } from './admission/client-address.ts'
import { ClientGoneError, Exchange } from './exchange.ts'
import { RequestAudit } from './request-audit.ts'
import { STATUS_OF } from './problem.ts'
import { pathOf } from './request-target.ts'

/** Where the figures go; src/telemetry/metrics.ts is one. */
export interface RequestMeter {
  requestStarted(api: RequestObservation['api']): void
  requestFinished(seen: RequestObservation): void
}

export const NO_METER: RequestMeter = { requestStarted() {}, requestFinished() {} }

/** Between two lines about repeated refusals. */
const REPEATED_EVERY_MS = 10_000

/** The rest of a longer one tells nothing. */
const USER_AGENT_CHARS_MAX = 200

/** From here on a request is slow. */
const SLOW_MS = 1_000

interface Ending {
  readonly status: number
  /** The whole answer has left. */
  readonly finished: boolean
  readonly durationMs: number
}

/** A probe of a node that is not ready is answered as it should be, again and again. */
const isExpected = (request: FastifyRequest, { status, finished, durationMs }: Ending): boolean =>
  request.routeOptions.config.operation?.isRoutine === true &&
  status === STATUS_OF.leader_not_ready &&
  finished &&
  durationMs < SLOW_MS

/** What an operator may look for later. */
export function isProblem({ status, finished, durationMs }: Ending): boolean {
  return status >= 400 || !finished || durationMs >= SLOW_MS
}

export class RequestLog {
  readonly #services: Services
  readonly #meter: RequestMeter
  readonly #codes = new WeakMap<FastifyRequest, string>()
  readonly #repeated = new WeakSet<FastifyRequest>()
  #unreported = 0
  #reportedMs = -Infinity

  constructor(services: Services, meter: RequestMeter) {
    this.#services = services
    this.#meter = meter
  }

  watch(request: FastifyRequest, reply: FastifyReply, api: RequestObservation['api']): void {
    const exchange = Exchange.of(request.raw, reply.raw)
    this.#meter.requestStarted(api)
    reply.raw.once('close', () => {
      const durationMs = performance.now() - exchange.startedMs
      const { receivedBytes, sentBytes, firstByteSeconds, traceId } = exchange
      const { operation, principal } = RequestAudit.of(request)
      const { statusCode: status, writableFinished: finished } = reply.raw
      const sizes = { receivedBytes, sentBytes }
      const seconds = durationMs / 1000
      this.#meter.requestFinished({ api, operation, status, seconds, firstByteSeconds, ...sizes })
      if (this.#repeated.has(request)) return this.#countRepeated()
      const { requests } = this.#services.config.logging
      const ending = { status, finished, durationMs }
      if (requests === 'problems' && (!isProblem(ending) || isExpected(request, ending))) return
      const { method, id: requestId } = request
      const code = this.#codes.get(request) ?? null
      const facts = {
        requestId,
        operation,
        method,
        client: clientAddress(request),
        path: pathOf(request.originalUrl),
        status,
        code,
        finished,
        tenant: principal?.tenantId ?? null,
        accessKeyId: principal?.kind === 'accessKey' ? principal.accessKeyId : null,
        userAgent: request.headers['user-agent']?.slice(0, USER_AGENT_CHARS_MAX) ?? null,
        ...(traceId === null ? {} : { traceId }),
      }
      this.#services.logger.info({ ...facts, ...sizes, durationMs: Math.round(durationMs) }, 'request served')
    })
  }

  /** The refusal of a caller that is refused too often: it gets no line of its own. */
  repeated(request: FastifyRequest): void {
    this.#repeated.add(request)
  }

  #countRepeated(): void {
    const nowMs = performance.now()
    this.#unreported += 1
    if (nowMs - this.#reportedMs < REPEATED_EVERY_MS) return
    this.#services.logger.info({ count: this.#unreported }, 'refusals held back')
    this.#unreported = 0
    this.#reportedMs = nowMs
  }

  /** The outcome of a request that did not go well; only an unexpected outcome is an error that an operator must see. */
  failed(request: FastifyRequest, outcome: { readonly code: string; readonly error: unknown }): void {
    this.#codes.set(request, outcome.code)
    if (outcome.code !== 'internal_error') return
    // Its sender left: in the middle of the body, or with all of it sent.
    if (outcome.error instanceof ClientGoneError) return
    if (request.raw.destroyed && !request.raw.complete) return
    this.#services.logger.error({ requestId: request.id, err: outcome.error }, 'request failed unexpectedly')
  }
}
