/**
 * The two ways in which a call fails: the service refuses it, or there is no answer.
 *
 * Rule: programs use `code`, people read `message`; `requestId` identifies the request in the log of a node.
 */
import type { Attempted } from './attempt.ts'

export class ApiError extends Error {
  readonly status: number
  /** One of docs/errors.md; `unknown` when the answer did not come from a node. */
  readonly code: string
  readonly requestId: string | null
  readonly operation: string
  readonly headers: Attempted['headers']
  /** The complete problem object. */
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

/** Codes of connections that fail before a byte of the request is sent. */
const UNRECEIVED: readonly unknown[] = [
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]

/** There is no answer: the request may or may not have been executed. */
export class NoAnswerError extends Error {
  readonly operation: string
  readonly endpoint: string
  /** No connection was established, so the request was not executed. */
  readonly isUnreceived: boolean
  constructor(operation: string, endpoint: string, options: ErrorOptions) {
    const why = options.cause instanceof Error ? `: ${options.cause.message}` : ''
    super(`${operation} had no answer from ${endpoint}${why}`, options)
    this.name = 'NoAnswerError'
    this.operation = operation
    this.endpoint = endpoint
    const { code } = { code: undefined, ...(options.cause as object | undefined) } as { code?: unknown }
    this.isUnreceived = UNRECEIVED.includes(code)
  }
}

const TEXT_BYTES_SHOWN = 200

function parsed(bytes: Buffer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(bytes.toString())
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    // A proxy in front of the node may answer in another format.
    return {}
  }
}
