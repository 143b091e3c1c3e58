/**
 * Asks another S3 store: signs, sends, waits out what passes.
 *
 * Owns: connections and the loop of one request. Knows nothing of: what is asked. Rules: every request reads, so each may be repeated; 429, 503 and
 * broken connections are waited out as long as the policy allows; answers that are refusals become SourceErrors with their explanation.
 */
import type { Readable } from 'node:stream'
import { Agent } from 'undici'
import { type Clock, delayBefore, isPassing, type RepeatPolicy } from '../../client/clients.ts'
import { textHeaders } from '../../s3-client/answer-headers.ts'
import { errorBytes } from '../../s3-client/error-document.ts'
import { type Place, placeOf, type PlaceTarget } from '../../s3-client/place.ts'
import { type S3Credentials, signedHeaders } from '../../s3-client/signed-headers.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { SourceError, sourceErrorOf } from './source-error.ts'

const CONNECT_MS = 10_000
/** From the end of the request to the headers of the answer, and between two pieces of an answer. */
const SILENCE_MS = 60_000
/** Some five minutes together: a store that is busy for longer is left alone. */
export const PATIENT: RepeatPolicy = {
  attemptsMax: 14,
  firstDelayMs: 200,
  delayMsMax: 30_000,
  retryAfterMsMax: 300_000,
}
/** Of a store that has not answered once: its address is more likely wrong than its network. */
const FIRST_ATTEMPTS_MAX = 3
/** Passing, although the status alone does not say so. */
const PASSING_CODES: readonly string[] = ['RequestTimeout', 'SlowDown', 'TooManyRequests', 'Throttling']

export interface SourceParts {
  readonly endpoint: URL
  readonly isVirtualHost: boolean
  readonly region: string
  readonly credentials: S3Credentials
  /** PEM; null: the authorities that Node.js knows. */
  readonly ca: string | null
  readonly clock: Clock
  readonly signal: AbortSignal
  /** 0 to 1. */
  readonly random: () => number
  readonly policy?: RepeatPolicy
}

export interface SourceRequest extends PlaceTarget {
  readonly method?: 'GET' | 'HEAD'
  /** For messages, such as `ListObjectsV2`. */
  readonly action: string
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>
}

export interface SourceAnswer {
  readonly status: number
  /** Lower-case names; values as UTF-8 where they are. */
  readonly headers: Readonly<Record<string, string>>
  /** Must be read or destroyed. */
  readonly body: Readable
}

export class SourceClient {
  readonly #parts: SourceParts
  readonly #agent: Agent
  #hasAnswered = false

  constructor(parts: SourceParts) {
    this.#parts = parts
    const connect = { timeout: CONNECT_MS, ...(parts.ca === null ? {} : { ca: parts.ca }) }
    this.#agent = new Agent({ connect, headersTimeout: SILENCE_MS, bodyTimeout: SILENCE_MS })
  }

  /** An answer below 300. Throws SourceError, and CommandError `source_unreachable` without an answer. */
  async ask(request: SourceRequest): Promise<SourceAnswer> {
    const { clock, policy = PATIENT, random, signal } = this.#parts
    for (let attempts = 1; ; attempts++) {
      const outcome = await this.#once(request)
      if (!(outcome instanceof Error)) return outcome
      const retryAfter = outcome instanceof SourceError ? outcome.headers['retry-after'] : undefined
      const failed = { attempts, retryAfter, now: clock.now(), chance: random() }
      const isOver =
        signal.aborted ||
        (!this.#hasAnswered && attempts === FIRST_ATTEMPTS_MAX) ||
        (outcome instanceof SourceError && !isPassing(outcome.status) && !hasPassed(outcome))
      const delay = isOver ? null : delayBefore(policy, failed)
      if (delay === null) throw outcome
      await this.wait(delay)
    }
  }

  /** Milliseconds. Rejects after an interruption. */
  wait(ms: number): Promise<void> {
    return this.#parts.clock.wait(ms, this.#parts.signal)
  }

  close(): Promise<void> {
    return this.#agent.destroy()
  }

  async #once(request: SourceRequest): Promise<SourceAnswer | CommandError> {
    const { clock, credentials, endpoint, isVirtualHost, region, signal } = this.#parts
    const { method = 'GET', action } = request
    const place = placeOf(endpoint, isVirtualHost, request)
    const at = clock.now()
    // Proxies that pack or unpack bodies would change what is verified.
    const own = { 'accept-encoding': 'identity', ...request.headers }
    const headers = signedHeaders(credentials, { method, place, headers: own, at, region })
    try {
      const path = place.query === '' ? place.path : `${place.path}?${place.query}`
      const answer = await this.#agent.request({ origin: place.origin, path, method, headers, signal })
      this.#hasAnswered = true
      const read = { status: answer.statusCode, headers: textHeaders(answer.headers), body: answer.body }
      if (read.status < 300) return read
      const body = await errorBytes(read.body)
      const named = [action, [request.bucket, request.key].filter(Boolean).join('/')]
        .filter(Boolean)
        .join(' ')
      return await sourceErrorOf({ ...read, body, action: named, at: clock.now() })
    } catch (cause) {
      if (signal.aborted) throw cause
      return unreachable(place, cause)
    }
  }
}

const hasPassed = ({ s3Code }: SourceError): boolean => PASSING_CODES.includes(s3Code)

function unreachable({ origin }: Place, cause: unknown): CommandError {
  return new CommandError(`There is no answer from the source at ${origin}`, {
    code: 'source_unreachable',
    hint: 'Check --endpoint; an https address may need --source-ca, and a store that knows no buckets as hosts must not get --virtual-host.',
    exitCode: EXIT.unreachable,
    cause,
  })
}

/** Ends an answer whose body is not read to its end. */
export function drop(body: Readable): void {
  body.on('error', () => {}).destroy()
}
