/**
 * How a call fails, in two kinds: the service answered no, or no answer came.
 *
 * Rule: programs go by `code`, people by `message`; `requestId` finds the request in the log of a node.
 */
import type { Attempted } from './attempt.ts'

export class ApiError extends Error {
  readonly status: number
  /** One of docs/errors.md; `unknown` when what answered was no node. */
  readonly code: string
  readonly requestId: string | null
  readonly operation: string
  readonly headers: Attempted['headers']
  /** The whole problem. */
  readonly problem: Readonly<Record<string, unknown>>

  constructor(operation: string, { status, headers, bytes }: Attempted & { readonly bytes: Buffer }) {
    const problem = parsed(bytes)
    const { code = 'unknown', message = bytes.subarray(0, TEXT_BYTES_SHOWN).toString() } = problem
    super(`${operation} was answered ${status} ${String(code)}: ${String(message)}`)
    this.name = 'ApiError'
    this.operation = operation
    this.status = status
    this.code = String(code)
    this.requestId = headers['x-request-id'] ?? null
    this.headers = headers
    this.problem = problem
  }
}

/** How connections fail before a byte of a request has left. */
const UNHEARD: readonly unknown[] = [
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]

/** The request may have been carried out: nobody said. */
export class NoAnswerError extends Error {
  readonly operation: string
  readonly endpoint: string
  /** No connection was made, so it was not carried out. */
  readonly isUnheard: boolean
  constructor(operation: string, endpoint: string, options: ErrorOptions) {
    const why = options.cause instanceof Error ? `: ${options.cause.message}` : ''
    super(`${operation} had no answer from ${endpoint}${why}`, options)
    this.name = 'NoAnswerError'
    this.operation = operation
    this.endpoint = endpoint
    const { code } = { code: undefined, ...(options.cause as object | undefined) } as { code?: unknown }
    this.isUnheard = UNHEARD.includes(code)
  }
}

const TEXT_BYTES_SHOWN = 200

function parsed(bytes: Buffer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(bytes.toString())
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    // Whatever stands between may answer in its own words.
    return {}
  }
}
