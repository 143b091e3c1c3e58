/**
 * One attempt: a POST to a webhook, and its result.
 *
 * Owns: sockets, the time limit, the name of a failure. Knows nothing of: rows, schedules.
 * Rules: never rejects; follows no redirect; reads at most ANSWER_BYTES_MAX of an answer and passes none of it on: the status
 * decides.
 */
import { Agent, type Dispatcher, request } from 'undici'
import { isOpened } from '../../operations/notifications/allowed-origin.ts'
import type { TargetSettings } from '../../operations/notifications/target-url.ts'
import { type Guard, guardedConnector, NOT_REACHABLE, TargetRefusedError } from './guarded-connector.ts'

const TIMEOUT_MS = 15_000
const ANSWER_BYTES_MAX = 64 * 1024
const KEEP_ALIVE_MS = 10_000
const USER_AGENT = 'svc-webhook/1'

export interface WebhookPost {
  /** Whose notification it is. */
  readonly tenantId: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface Answered {
  /** Null: no answer came. */
  readonly status: number | null
  /** Null: it was accepted. */
  readonly error: string | null
  readonly retryAfterMs: number | null
  readonly durationMs: number
}

export interface SenderParts extends Guard {
  readonly allowOrigins: TargetSettings['allowOrigins']
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly timeoutMs?: number
}

export class WebhookSender {
  /** A connection that leads inside stays in the pool of the second one: it is used for opened targets and for no others. */
  readonly #agents: { readonly guarded: Agent; readonly opened: Agent }
  readonly #allowOrigins: TargetSettings['allowOrigins']
  readonly #closing = new AbortController()
  readonly #now: () => number
  readonly #timeoutMs: number

  constructor({ now, timeoutMs = TIMEOUT_MS, allowOrigins, ...guard }: SenderParts) {
    this.#allowOrigins = allowOrigins
    this.#now = now
    this.#timeoutMs = timeoutMs
    this.#agents = { guarded: agentOf(guard, false), opened: agentOf(guard, true) }
  }

  async post({ tenantId, url, headers, body }: WebhookPost): Promise<Answered> {
    const began = performance.now()
    const tooLate = AbortSignal.timeout(this.#timeoutMs)
    const signal = AbortSignal.any([tooLate, this.#closing.signal])
    const durationMs = (): number => Math.round(performance.now() - began)
    try {
      const answer = await request(url, {
        method: 'POST',
        dispatcher: this.#agentFor(url, tenantId),
        headers: { ...headers, 'content-type': 'application/json', 'user-agent': USER_AGENT },
        body,
        signal,
        // One limit for the whole attempt: the signal's.
        headersTimeout: 0,
        bodyTimeout: 0,
      })
      const result = { ...this.#resultOf(answer), durationMs: durationMs() }
      // Only so that the connection can be used again: a failure from here on changes nothing.
      await answer.body.dump({ limit: ANSWER_BYTES_MAX, signal }).catch(() => undefined)
      return result
    } catch (error) {
      const what = tooLate.aborted ? `no answer within ${this.#timeoutMs / 1000} s` : failureOf(error)
      return { status: null, error: what, retryAfterMs: null, durationMs: durationMs() }
    }
  }

  /** Aborts attempts under way. */
  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all([this.#agents.guarded.destroy(), this.#agents.opened.destroy()])
  }

  #agentFor(url: string, tenantId: string): Agent {
    const { guarded, opened } = this.#agents
    return isOpened(this.#allowOrigins, new URL(url), tenantId) ? opened : guarded
  }

  #resultOf({ statusCode: status, headers }: Dispatcher.ResponseData): Omit<Answered, 'durationMs'> {
    if (status >= 200 && status < 300) return { status, error: null, retryAfterMs: null }
    const isRedirect = status >= 300 && status < 400
    const error = isRedirect ? `status ${status}: redirects are not followed` : `status ${status}`
    const mayAsk = status === 429 || status === 503
    return {
      status,
      error,
      retryAfterMs: mayAsk ? readRetryAfter(headers['retry-after'], this.#now()) : null,
    }
  }
}

function agentOf(guard: Guard, mayBeInside: boolean): Agent {
  return new Agent({
    connect: guardedConnector(guard, mayBeInside),
    allowH2: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
  })
}

const HTTP_DATE = /^[A-Z][a-z]{2,8}, .* GMT$/

/** Seconds, or a date. Null: absent or unreadable. [RFC 9110 10.2.3] */
export function readRetryAfter(text: string | string[] | undefined, now: number): number | null {
  if (typeof text !== 'string') return null
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000
  // Date.parse accepts far more forms than HTTP.
  const at = HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? null : Math.max(0, at - now)
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  UND_ERR_SOCKET: 'connection closed before an answer came',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_HEADERS_TIMEOUT: 'no answer in time',
  ENOTFOUND: NOT_REACHABLE,
  ENODATA: NOT_REACHABLE,
  ETIMEOUT: 'the name server does not answer',
  ESERVFAIL: 'the name server fails',
}

/** A short description without any text from the receiver. */
function failureOf(error: unknown): string {
  if (error instanceof TargetRefusedError) return error.message
  if (error instanceof Error && error.name === 'HTTPParserError') return 'the answer is no HTTP/1.1'
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const word = /^[A-Z0-9_]{1,40}$/.test(code) ? code : 'unknown reason'
  return WORDS[code] ?? `failed: ${word}`
}
