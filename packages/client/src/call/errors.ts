/**
 * How a call fails: the service refuses it, there is no answer, or the bytes of an object do not arrive as they are stored.
 *
 * Rule: programs use the class, `status` and `code`; people read `message`; `requestId` identifies the request in the log of a node.
 */
import type { Attempted } from './transport.ts'

/** Every error that this client makes, except TypeError for wrong arguments. An aborted signal rejects with its reason. */
export class HoldfastError extends Error {
  override name = 'HoldfastError'
}

/** The arguments of a call cannot be sent. Nothing was sent. */
export class ArgumentError extends TypeError {
  override name = 'ArgumentError'
}

interface Answered extends Pick<Attempted<unknown>, 'status' | 'headers'> {
  readonly bytes: Uint8Array
}

/** The service refuses the call. */
export class ApiError extends HoldfastError {
  override name = 'ApiError'
  readonly status: number
  /** One of docs/errors.md; `unknown` when the answer did not come from a node. */
  readonly code: string
  readonly requestId: string | null
  readonly operation: string
  readonly headers: Attempted<unknown>['headers']
  /** The complete problem object. */
  readonly problem: Readonly<Record<string, unknown>>

  constructor(operation: string, { status, headers, bytes }: Answered) {
    const text = new TextDecoder().decode(bytes)
    const problem = parsed(text)
    const { code = 'unknown', message = text.slice(0, TEXT_CHARS_SHOWN) } = problem
    const said = String(message).trim().replace(/\.$/, '')
    super(`${said === '' ? (WORDS[status] ?? `${operation} was refused`) : said} (${status} ${String(code)})`)
    this.operation = operation
    this.status = status
    this.code = String(code)
    this.requestId = headers['x-request-id'] ?? null
    this.headers = headers
    this.problem = problem
  }
}

/** 400: the request is not well-formed, or a digest does not fit the bytes. */
export class InvalidRequestError extends ApiError {
  override name = 'InvalidRequestError'
}
/** 401: the credentials are wrong, expired or revoked. */
export class UnauthorizedError extends ApiError {
  override name = 'UnauthorizedError'
}
/** 403: the credentials do not allow it. */
export class AccessDeniedError extends ApiError {
  override name = 'AccessDeniedError'
}
/** 404: no such bucket, object, version or upload. */
export class NotFoundError extends ApiError {
  override name = 'NotFoundError'
}
/** 409: it contradicts the present state. */
export class ConflictError extends ApiError {
  override name = 'ConflictError'
}
/** 412: a condition of the request is not met. */
export class PreconditionFailedError extends ApiError {
  override name = 'PreconditionFailedError'
}
/** 429: too many requests. The client has repeated the call already, as its policy says. */
export class RateLimitedError extends ApiError {
  override name = 'RateLimitedError'
}
/** 5xx: the service cannot do it now. The client has repeated the call already, if it may be repeated. */
export class UnavailableError extends ApiError {
  override name = 'UnavailableError'
}

/** 304: the object is the one that the caller has, as `ifNoneMatch` or `ifModifiedSince` says. */
export class NotModifiedError extends ApiError {
  override name = 'NotModifiedError'
}

const CLASSES: Readonly<Record<number, typeof ApiError>> = {
  400: InvalidRequestError,
  401: UnauthorizedError,
  403: AccessDeniedError,
  404: NotFoundError,
  409: ConflictError,
  412: PreconditionFailedError,
  429: RateLimitedError,
}

export function apiErrorOf(operation: string, answered: Answered): ApiError {
  const { status } = answered
  const Class = CLASSES[status] ?? (status >= 500 ? UnavailableError : ApiError)
  return new Class(operation, answered)
}

/** Codes of connections that fail before a byte of the request is sent. */
const UNRECEIVED: readonly unknown[] = [
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  'ConnectionRefused',
]
const CAUSES_MAX = 8

/** There is no answer: the request may or may not have been executed. */
export class NoAnswerError extends HoldfastError {
  override name = 'NoAnswerError'
  readonly operation: string
  readonly endpoint: string
  /** No connection was established, so the request was not executed. A browser does not say so, and has false here. */
  readonly isUnreceived: boolean
  constructor(operation: string, endpoint: string, options: ErrorOptions) {
    const causes = causesOf(options.cause)
    const why = causes.findLast(({ message }) => message !== '')?.message
    super(`${operation} had no answer from ${endpoint}${why === undefined ? '' : `: ${why}`}`, options)
    this.operation = operation
    this.endpoint = endpoint
    this.isUnreceived = causes.some((cause) => 'code' in cause && UNRECEIVED.includes(cause.code))
  }
}

/** The error and what caused it, outermost first. */
function causesOf(outermost: unknown): readonly Error[] {
  const causes: Error[] = []
  for (let cause = outermost; cause instanceof Error && causes.length < CAUSES_MAX; cause = cause.cause)
    causes.push(cause)
  return causes
}

/** The endpoint is a node, but the listener of the other plane. */
export class WrongListenerError extends HoldfastError {
  override name = 'WrongListenerError'
  readonly endpoint: string
  constructor(endpoint: string, found: 'data' | 'admin', cause: ApiError) {
    const wanted = found === 'admin' ? 'data' : 'admin'
    super(
      `${endpoint} is the ${found} listener of a node; this client needs its ${wanted} listener, which has another port`,
      { cause },
    )
    this.endpoint = endpoint
  }
}

/** The bytes that arrived are not those that are stored: do not use them. */
export class ChecksumMismatchError extends HoldfastError {
  override name = 'ChecksumMismatchError'
}

/** A transfer failed again and again without progress. */
export class BrokenOffError extends HoldfastError {
  override name = 'BrokenOffError'
}

const TEXT_CHARS_SHOWN = 200

/** For answers without a body, as those to HEAD are. */
const WORDS: Readonly<Record<number, string>> = {
  304: 'The object is not modified',
  401: 'The credentials are wrong, expired or revoked',
  403: 'The credentials do not allow it',
  404: 'There is no such object, or no such bucket',
  412: 'A condition of the request is not met',
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    // A proxy in front of the node may answer in another format.
    return {}
  }
}
