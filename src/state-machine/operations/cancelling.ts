/**
 * Whether an operation may still be given up. Pure.
 *
 * Rule: a change of the members goes back only before any vote has moved. Rows cannot tell whether one has, once the step was taken
 * that moves it: then the request is noted, and the driver, who sees the configuration, fulfils it or goes on.
 */
import { MEMBERSHIP_KINDS, type MembershipStep, type OperationRecord } from './records.ts'
import { type Refused, refuse } from '../base/reply.ts'

type Standing = Pick<OperationRecord, 'kind' | 'cursor'>

const MOVES_VOTES: readonly MembershipStep[] = ['promote', 'demote']

/** Null: it may be cancelled. */
export function cancelFault(operation: OperationRecord): Refused | null {
  const { cursor, operationId } = operation
  if (!isMembershipKind(operation) || cursor === 'catchUp' || isRevocable(operation)) return null
  return refuse(
    'precondition_failed',
    `Cannot cancel operation "${operationId}": from here on it only goes on`,
  )
}

/** Votes are about to move, or have moved already. */
export function isRevocable(operation: Standing): boolean {
  return isMembershipKind(operation) && MOVES_VOTES.some((step) => step === operation.cursor)
}

function isMembershipKind({ kind }: Standing): boolean {
  return MEMBERSHIP_KINDS.some((one) => one === kind)
}
