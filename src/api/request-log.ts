/**
 * One log line and one observation for each request, written when its connection is done with it.
 *
 * Rule: the path is logged without its query, which may hold a token; headers and bodies are never logged.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Services } from '../operations/services.ts'
import { Condition } from '../../cluster/index.ts'
import { Refusal } from '../refusal.ts'
import { pathOf } from './request-target.ts'

export interface RequestFacts {
  /** 'unknown' when no route matched. */
  readonly operationId: string
  readonly status: number
  /** The problem code, null for an answer that went well. */
  readonly code: string | null
  readonly durationMs: number
  /** False when the client went away, or the body broke, before the answer was out. */
  readonly finished: boolean
}

export type ObserveRequest = (facts: RequestFacts) => void

export class RequestLog {
  readonly #services: Services
  readonly #observe: ObserveRequest
  readonly #codes = new WeakMap<FastifyRequest, string>()

  constructor(services: Services, observe: ObserveRequest) {
    this.#services = services
    this.#observe = observe
  }

  watch(request: FastifyRequest, reply: FastifyReply): void {
    const started = performance.now()
    reply.raw.once('close', () => {
      const facts: RequestFacts = {
        operationId: request.routeOptions.config.operationId ?? 'unknown',
        status: reply.raw.statusCode,
        code: this.#codes.get(request) ?? null,
        durationMs: Math.round((performance.now() - started) * 1000) / 1000,
        finished: reply.raw.writableFinished,
      }
      this.#observe(facts)
      this.#services.logger.info(
        { requestId: request.id, method: request.method, path: pathOf(request.originalUrl), ...facts },
        'request served',
      )
    })
  }

  /** The outcome of a request that did not go well; only what nobody expected is an error that an operator must see. */
  failed(request: FastifyRequest, outcome: { readonly code: string; readonly error: unknown }): void {
    this.#codes.set(request, outcome.code)
    if (outcome.error instanceof Refusal || outcome.error instanceof Condition) return
    // A body that stops because its sender left is no fault of ours.
    if (request.raw.destroyed && !request.raw.complete) return
    this.#services.logger.error({ requestId: request.id, err: outcome.error }, 'request failed unexpectedly')
  }
}
