/**
 * The expected "no": something the caller did and must be told about. [style: errors, kind 1]
 *
 * Owns: the error that carries a code from the operations to the edge. Knows nothing of HTTP.
 * Rule: the message is one sentence without full stop that names the action and quotes values; never a secret.
 */
import type { RefusalCode } from '../state-machine/base/codes.ts'

export type { RefusalCode }

/** Something in the present state that stands in the way. */
export interface Blocker {
  readonly code: string
  readonly message: string
  /** Of how many things this is so. */
  readonly count?: number
  /** RFC 3339: before then none of them is out of the way; null: nobody can say. */
  readonly earliestRelease?: string | null
}

export interface RefusalExtras {
  /** Seconds, for rate limits. */
  readonly retryAfterSeconds?: number
  /** All that stands in the way, for a problem with several causes. */
  readonly blockers?: readonly Blocker[]
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
