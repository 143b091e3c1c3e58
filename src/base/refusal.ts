/**
 * A refusal: an expected "no" that the caller caused and receives. [style: errors, kind 1]
 *
 * Owns: the error that carries a code from the operations to the edge. Knows nothing of: HTTP.
 * Rule: the message is one sentence without full stop that names the action and quotes values; never a secret.
 */
import type { Missing, RefusalCode } from '../state-machine/base/codes.ts'

export type { Missing, RefusalCode }

/** Something in the present state that prevents a request. */
export interface Blocker {
  readonly code: string
  readonly message: string
  /** How many items it concerns. */
  readonly count?: number
  /** RFC 3339: the earliest time at which one of the items stops blocking; null: unknown. */
  readonly earliestRelease?: string | null
  /** The approval that is missing. */
  readonly approvalId?: string
}

export interface RefusalExtras {
  /** Seconds, for rate limits. */
  readonly retryAfterSeconds?: number
  /** All blockers, for a problem with several causes. */
  readonly blockers?: readonly Blocker[]
  /** Extra members of the problem body, already safe to show. */
  readonly details?: Readonly<Record<string, unknown>>
  /** Of `not_found`, and of a condition on what is not there. Absent: nothing that an API names apart. */
  readonly missing?: Missing
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

/** What `decide` throws; null: it refuses nothing. */
export function refusalOf(decide: () => void): Refusal | null {
  try {
    decide()
    return null
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}
