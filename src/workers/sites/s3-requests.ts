/**
 * Requests to the S3 store of another site: signed, sent once, answered within a limit.
 *
 * Owns: connections and limits of time, and what a failure means. Knows nothing of: what is asked. Rules: nothing is repeated here, because the
 * queue repeats; connections go only where those of webhooks may go; redirects are not followed; no text of an answer is kept whole.
 */
import { Readable } from 'node:stream'
import { Agent } from 'undici'
import { collectedBytes } from '../../base/collected-bytes.ts'
import { SiteFault, type SiteFaultKind } from '../../operations/base/remote-store.ts'
import { isOpened } from '../../operations/notifications/allowed-origin.ts'
import type { TargetSettings } from '../../operations/notifications/target-url.ts'
import { textHeaders } from '../../s3-client/answer-headers.ts'
import { errorBytes, errorDocument, s3CodeOf } from '../../s3-client/error-document.ts'
import { placeOf } from '../../s3-client/place.ts'
import { type S3Credentials, signedHeaders, type ToSign } from '../../s3-client/signed-headers.ts'
import type { SiteTarget } from '../../state-machine/sites/records.ts'
import { type Guard, guardedConnector, TargetRefusedError } from '../webhooks/guarded-connector.ts'

const ANSWER_MS_MAX = 30_000
/** A body may take so much longer: 64 KiB a second at least. */
const SLOWEST_BYTES_PER_MS = 65.536
const ANSWER_BYTES_MAX = 8 * 1024 * 1024
const MESSAGE_CHARACTERS_MAX = 200

export interface SiteOutside extends Guard {
  readonly settings: Pick<TargetSettings, 'allowOrigins'>
  /** Milliseconds since 1970: signatures carry it. */
  readonly now: () => number
}

/** Whose replication it is, and where to. */
export interface SiteAccess {
  readonly tenantId: string
  readonly target: SiteTarget
  readonly credentials: S3Credentials
  readonly signal: AbortSignal
}

export interface SiteRequest {
  readonly method: ToSign['method']
  /** For messages, such as `PutObject`. */
  readonly action: string
  readonly key?: string
  /** Of the store as a whole, not of the bucket. */
  readonly isOfStore?: true
  readonly query?: Readonly<Record<string, string>>
  /** Lower-case names; values with one character for each byte. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: { readonly bytes: AsyncIterable<Uint8Array> | Uint8Array; readonly length: number }
  /** SHA-256 of the body as lower-case hex, or UNSIGNED-PAYLOAD; with a body. */
  readonly bodyHash?: string
  /** Statuses beside 2xx that are an answer. */
  readonly expects?: readonly number[]
  /** Longer than an answer usually takes, apart from the body. */
  readonly answerMsMax?: number
}

export interface SiteAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** Connections to all targets of this node. */
export class SiteConnections {
  readonly #outside: SiteOutside
  readonly #agents: { readonly guarded: Agent; readonly opened: Agent }

  constructor(outside: SiteOutside) {
    this.#outside = outside
    this.#agents = { guarded: agentOf(outside, false), opened: agentOf(outside, true) }
  }

  /** Throws SiteFault. */
  async ask(access: SiteAccess, request: SiteRequest): Promise<SiteAnswer> {
    const length = request.body?.length ?? 0
    const answerMs = request.answerMsMax ?? ANSWER_MS_MAX
    const limit = AbortSignal.timeout(answerMs + Math.ceil(length / SLOWEST_BYTES_PER_MS))
    const signal = AbortSignal.any([limit, access.signal])
    const broken: { cause: unknown }[] = []
    try {
      return await this.#send(access, request, { signal, broken })
    } catch (error) {
      // The bytes could not be read here: that is no fault of the target.
      if (broken[0] !== undefined) throw broken[0].cause
      if (error instanceof SiteFault) throw error
      throw unanswered(request, error, limit.aborted)
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#agents.guarded.destroy(), this.#agents.opened.destroy()])
  }

  async #send(
    access: SiteAccess,
    request: SiteRequest,
    how: { readonly signal: AbortSignal; readonly broken: { cause: unknown }[] },
  ): Promise<SiteAnswer> {
    const { target, credentials, tenantId } = access
    const { method, key = '', query = {}, headers = {}, body, bodyHash, expects = [] } = request
    const endpoint = new URL(target.endpoint)
    const bucket = request.isOfStore === true ? '' : target.bucket
    const place = placeOf(endpoint, target.isVirtualHost, { bucket, key, query })
    const own = {
      'accept-encoding': 'identity',
      ...(body === undefined ? {} : { 'content-length': `${body.length}` }),
      ...headers,
    }
    const at = this.#outside.now()
    const hash = bodyHash === undefined ? {} : { bodyHash }
    const signed = signedHeaders(credentials, {
      method,
      place,
      headers: own,
      at,
      region: target.region,
      ...hash,
    })
    const isOpen = isOpened(this.#outside.settings.allowOrigins, new URL(place.origin), tenantId)
    const { origin } = place
    const answer = await (isOpen ? this.#agents.opened : this.#agents.guarded).request({
      origin,
      path: place.query === '' ? place.path : `${place.path}?${place.query}`,
      method,
      headers: signed,
      ...(body === undefined ? {} : { body: bodyOf(body.bytes, how.broken) }),
      signal: how.signal,
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    const read = { status: answer.statusCode, headers: textHeaders(answer.headers) }
    const isWanted = (read.status >= 200 && read.status < 300) || expects.includes(read.status)
    if (isWanted) return { ...read, body: await bounded(answer.body, request) }
    throw await faultOf(request, read, await errorBytes(answer.body))
  }
}

function agentOf(guard: Guard, mayBeInside: boolean): Agent {
  return new Agent({ connect: guardedConnector(guard, mayBeInside), allowH2: false })
}

/** What reading the bytes throws is kept apart from what sending them throws. */
function bodyOf(bytes: AsyncIterable<Uint8Array> | Uint8Array, broken: { cause: unknown }[]) {
  return bytes instanceof Uint8Array ? bytes : Readable.from(kept(bytes, broken), { objectMode: false })
}

async function* kept(bytes: AsyncIterable<Uint8Array>, broken: { cause: unknown }[]) {
  try {
    yield* bytes
  } catch (cause) {
    broken.push({ cause })
    throw cause
  }
}

function bounded(body: AsyncIterable<Uint8Array>, { action }: SiteRequest): Promise<Buffer> {
  const tooLong = () => new SiteFault('failed', `The answer to ${action} is too long`)
  return collectedBytes(body, ANSWER_BYTES_MAX, tooLong)
}

/** Codes that are about the target as a whole, not about one key. */
const OF_ALL: ReadonlySet<string> = new Set([
  'NoSuchBucket',
  'InvalidAccessKeyId',
  'SignatureDoesNotMatch',
  'ExpiredToken',
  'InvalidToken',
  'AuthorizationHeaderMalformed',
  'RequestTimeTooSkewed',
  'PermanentRedirect',
  'TemporaryRedirect',
  'AllAccessDisabled',
  'AccountProblem',
  'SlowDown',
])
/** No later attempt is answered differently. */
const FINAL: ReadonlySet<string> = new Set([
  'EntityTooLarge',
  'KeyTooLongError',
  'MetadataTooLarge',
  'InvalidRequest',
  'InvalidArgument',
  'InvalidTag',
  'NotImplemented',
  'MethodNotAllowed',
])

async function faultOf(
  { action }: SiteRequest,
  { status, headers }: Pick<SiteAnswer, 'status' | 'headers'>,
  body: Buffer,
): Promise<SiteFault> {
  const document = await errorDocument(body)
  const s3Code = s3CodeOf(document, status)
  const text = document.message === null ? '' : `: ${plain(document.message)}`
  const retryAfter = /^\d{1,6}$/.test(headers['retry-after'] ?? '') ? Number(headers['retry-after']) : null
  const retryAfterMs = retryAfter === null ? null : retryAfter * 1000
  const message = `${action} was answered ${status} ${plain(s3Code)}${text}`
  return new SiteFault(kindOf(status, s3Code), message, { s3Code, retryAfterMs })
}

function kindOf(status: number, s3Code: string): SiteFaultKind {
  // 501 is about what was asked, not about the store.
  if (FINAL.has(s3Code)) return 'refused'
  return OF_ALL.has(s3Code) || status >= 500 || status === 429 ? 'unreachable' : 'failed'
}

/** A bounded text without control characters. */
function plain(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, MESSAGE_CHARACTERS_MAX)
}

function unanswered({ action }: SiteRequest, error: unknown, isTooLate: boolean): SiteFault {
  if (error instanceof TargetRefusedError) return new SiteFault('unreachable', error.message)
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const why = isTooLate ? 'in time' : `(${/^[A-Z0-9_]{1,40}$/.test(code) ? code : 'connection lost'})`
  return new SiteFault('unreachable', `${action} was not answered ${why}`)
}
