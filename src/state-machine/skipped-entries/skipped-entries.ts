/**
 * An entry that no node could apply, and what is known of it for ever: the row of the audit log in its place.
 *
 * Owns: skipEntry. Knows nothing of: plans, logs. Rules: nobody proposes it; it stands in the order of an operator, and every node that
 * skips the entry applies it there. It changes no other row, for nothing of the entry took effect.
 */
import { type Accepted, accept } from '../base/reply.ts'

/** One that the entry carried and that had no effect; null: it said none. */
export interface CarriedCommand {
  readonly type: string | null
  readonly requestId: string | null
}

export interface SkipEntryCommand {
  readonly type: 'skipEntry'
  readonly planId: string
  readonly entryIndex: number
  readonly entryTerm: number
  readonly digest: string
  readonly why: string
  /** The first CARRIED_MAX of them; null: it could not be decoded. */
  readonly carried: readonly CarriedCommand[] | null
  readonly carriedCount: number
}

/** An entry carries up to 512; a row of the audit log is no place for all of them. */
export const CARRIED_MAX = 32

export function skipEntry(): Accepted<null> {
  return accept(null)
}

export interface SkipEntryReplies {
  skipEntry: null
}
