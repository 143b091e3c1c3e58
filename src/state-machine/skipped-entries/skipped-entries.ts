/**
 * An entry that no node could apply, and its permanent trace: the audit row in its place.
 *
 * Owns: skipEntry. Knows nothing of: plans, logs. Rules: no node proposes the command; it comes from an operator's skip order, and every
 * node that skips the entry applies it at that index. It changes no other row, because nothing in the entry took effect.
 */
import { type Accepted, accept } from '../base/reply.ts'

/** A command in the skipped entry; it had no effect. A null member: the command did not have it. */
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
  /** The first CARRIED_MAX commands of the entry; null: the entry could not be decoded. */
  readonly carried: readonly CarriedCommand[] | null
  readonly carriedCount: number
}

/** An entry carries up to 512 commands, too many for one audit row. */
export const CARRIED_MAX = 32

export function skipEntry(): Accepted<null> {
  return accept(null)
}

export interface SkipEntryReplies {
  skipEntry: null
}
