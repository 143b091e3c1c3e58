/**
 * Requests to the S3 store of a target: signed, sent, repeated where that may help.
 *
 * Owns: connections, the loop of one request, limits of time. Knows nothing of: what is asked. Rules: every request that is sent here may be repeated,
 * so a lost answer does no harm; what passes is waited out so many times and no more; redirects are not followed.
 */
import type { Readable } from 'node:stream'
import { Agent, type buildConnector } from 'undici'
import { textHeaders } from '../../s3-client/answer-headers.ts'
import { errorBytes, errorDocument } from '../../s3-client/error-document.ts'
import { type Place, placeOf, type PlaceTarget } from '../../s3-client/place.ts'
import { type S3Credentials, signedHeaders, type ToSign } from '../../s3-client/signed-headers.ts'
import { isPassing, targetErrorOf, type S3Refused } from './s3-refusals.ts'
import { TargetError, TargetRefused, TargetUnreachable } from './target.ts'

/** From the end of the request to the headers of the answer, and between two pieces of an answer. */
const SILENCE_MS = 60_000
const ATTEMPTS_MAX = 6
const FIRST_WAIT_MS = 250
const WAIT_MS_MAX = 15_000
/** Bytes of an answer that is not wanted, read so that its connection can be used again. */
const DUMP_BYTES_MAX = 64 * 1024

export interface S3Store {
  readonly endpoint: URL
  readonly bucket: string
  readonly region: string
  readonly credentials: S3Credentials
  /** For messages; names no secret. */
  readonly description: string
}

export interface S3Outside {
  /** Which addresses a connection may go to is its decision. */
  readonly connect: buildConnector.connector
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Milliseconds. Rejects when the caller is to stop. */
  readonly wait: (ms: number) => Promise<void>
  /** 0 to 1. */
  readonly random: () => number
}

export interface S3Request extends Omit<PlaceTarget, 'bucket'> {
  readonly method: ToSign['method']
  /** For messages, such as `ListObjectsV2`. */
  readonly action: string
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  /** SHA-256 of the body, as lower-case hex; with a body. */
  readonly bodyHash?: string
}

export interface S3Answer {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** Must be read or destroyed. */
  readonly body: Readable
}

interface Failed {
  readonly error: TargetError
  readonly isPassing: boolean
  readonly retryAfterMs: number
}

export class S3Requests {
  readonly #store: S3Store
  readonly #outside: S3Outside
  readonly #agent: Agent

  constructor(store: S3Store, outside: S3Outside) {
    this.#store = store
    this.#outside = outside
    const { connect } = outside
    this.#agent = new Agent({ connect, headersTimeout: SILENCE_MS, bodyTimeout: SILENCE_MS, allowH2: false })
  }

  get description(): string {
    return this.#store.description
  }

  /** An answer below 300. Throws TargetError. */
  async ask(request: S3Request): Promise<S3Answer> {
    for (let attempts = 1; ; attempts++) {
      const outcome = await this.#once(request)
      if (!('error' in outcome)) return outcome
      if (!outcome.isPassing || attempts === ATTEMPTS_MAX) throw outcome.error
      await this.pause(attempts, outcome.retryAfterMs)
    }
  }

  /** As `ask`, where nothing of the body is wanted. */
  async order(request: S3Request): Promise<Omit<S3Answer, 'body'>> {
    const { status, headers, body } = await this.ask(request)
    await readFirst(body)
    return { status, headers }
  }

  /** Before attempt `attempts` + 1, never shorter than what the store asks for, and never longer than WAIT_MS_MAX. */
  pause(attempts: number, retryAfterMs = 0): Promise<void> {
    const longest = Math.min(WAIT_MS_MAX, FIRST_WAIT_MS * 2 ** (attempts - 1))
    const drawn = longest * (0.5 + this.#outside.random() / 2)
    return this.#outside.wait(Math.min(WAIT_MS_MAX, Math.max(drawn, retryAfterMs)))
  }

  close(): Promise<void> {
    return this.#agent.destroy()
  }

  async #once(request: S3Request): Promise<S3Answer | Failed> {
    const { endpoint, bucket } = this.#store
    const place = placeOf(endpoint, false, { ...request, bucket })
    const at = this.#outside.now()
    try {
      const answer = await this.#send(request, place, at)
      const read = { status: answer.statusCode, headers: textHeaders(answer.headers), body: answer.body }
      if (read.status >= 200 && read.status < 300) return read
      const document = await errorDocument(await errorBytes(read.body))
      return this.#refused(request, { status: read.status, headers: read.headers, document, at })
    } catch (cause) {
      if (cause instanceof TargetError) return { error: cause, isPassing: false, retryAfterMs: 0 }
      return unanswered(cause, `Cannot ${request.action} at ${this.description}`)
    }
  }

  #send(request: S3Request, place: Place, at: number): ReturnType<Agent['request']> {
    const { region, credentials } = this.#store
    const { method, body, bodyHash } = request
    // Proxies that pack or unpack bodies would change what is verified.
    const own = { 'accept-encoding': 'identity', ...request.headers }
    const hash = bodyHash === undefined ? {} : { bodyHash }
    const headers = signedHeaders(credentials, { method, place, headers: own, at, region, ...hash })
    const path = place.query === '' ? place.path : `${place.path}?${place.query}`
    const { origin } = place
    return this.#agent.request({ origin, path, method, headers, ...(body === undefined ? {} : { body }) })
  }

  #refused(request: S3Request, answer: Omit<S3Refused, 'action' | 'bucket' | 'description'>): Failed {
    const { bucket, description } = this.#store
    return {
      error: targetErrorOf({ ...answer, action: request.action, bucket, description }),
      isPassing: isPassing(answer),
      retryAfterMs: secondsOf(answer.headers['retry-after']) * 1000,
    }
  }
}

/** A whole number of seconds; anything else asks for nothing. */
const secondsOf = (text: string | undefined): number => (/^\d{1,6}$/.test(text ?? '') ? Number(text) : 0)

/** An answer that breaks off here has said all that is wanted of it. */
async function readFirst(body: Readable): Promise<void> {
  let bytes = 0
  try {
    for await (const piece of body) {
      bytes += (piece as Buffer).length
      if (bytes > DUMP_BYTES_MAX) return
    }
  } catch {
    body.destroy()
  }
}

/** Errors of TLS that no other attempt escapes. */
const CERTIFICATE_FAULT =
  /^(CERT_|DEPTH_ZERO_|ERR_TLS_|ERR_SSL_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|EPROTO)/

export function unanswered(cause: unknown, cannot: string): Failed {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  if (CERTIFICATE_FAULT.test(code)) {
    const why = `its certificate is not trusted (${code}): set the authority of the target with ca`
    return { error: new TargetRefused(`${cannot}: ${why}`, { cause }), isPassing: false, retryAfterMs: 0 }
  }
  const said = code === '' ? '' : ` (${code})`
  const error = new TargetUnreachable(`${cannot}: there is no answer${said}`, { cause })
  return { error, isPassing: true, retryAfterMs: 0 }
}
