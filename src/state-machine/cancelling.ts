/**
 * Whether an operation may still be given up. Pure. Rule: a change of the members goes back only before any vote has moved.
 */
import { MEMBERSHIP_KINDS } from './member-records.ts'
import type { OperationRecord } from './records.ts'
import { type Refused, refuse } from './reply.ts'

/** Null: it may be cancelled. */
export function cancelFault({ kind, cursor, operationId }: OperationRecord): Refused | null {
  if (!MEMBERSHIP_KINDS.some((one) => one === kind) || cursor === 'catchUp') return null
  return refuse(
    'precondition_failed',
    `Cannot cancel operation "${operationId}": from here on it only goes on`,
  )
}
