/**
 * The expected "no": something the caller did and must be told about. [style: errors, kind 1]
 *
 * Owns: the error that carries a code from the operations to the edge. Knows nothing of HTTP.
 * Rule: the message is one sentence without full stop that names the action and quotes values; never a secret.
 */
import type { RefusalCode } from './state-machine/codes.ts'

export type { RefusalCode }

export interface RefusalExtras {
  /** Seconds, for rate limits. */
  readonly retryAfterSeconds?: number
  /** Extra members of the problem body, already safe to show. */
  readonly details?: Readonly<Record<string, unknown>>
  /** Extra response headers, lower-case names. */
  readonly headers?: Readonly<Record<string, string>>
}

export class Refusal extends Error {
  readonly code: RefusalCode
  readonly extras: RefusalExtras
  constructor(code: RefusalCode, message: string, extras: RefusalExtras & ErrorOptions = {}) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause })
    this.name = 'Refusal'
    this.code = code
    this.extras = extras
  }
}
