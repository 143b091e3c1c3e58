/**
 * Whether an operation may still be cancelled. Pure.
 *
 * Rule: a membership change is undone only before any vote has moved. Once it has reached a step that moves votes, rows do not show
 * whether one has moved. Then apply records the request, and the driver, which sees the configuration, fulfils it or continues.
 */
import { MEMBERSHIP_KINDS, type MembershipStep, type LongOperation } from './records.ts'
import { type Refused, refuse } from '../base/reply.ts'

type Cancellable = Pick<LongOperation, 'kind' | 'cursor'>

const MOVES_VOTES: readonly MembershipStep[] = ['promote', 'demote']

/** Null: it may be cancelled. */
export function cancelFault(operation: LongOperation): Refused | null {
  const { cursor, operationId } = operation
  if (!isMembershipKind(operation) || cursor === 'catchUp' || isRevocable(operation)) return null
  return refuse(
    'precondition_failed',
    `Cannot cancel operation "${operationId}": from this step on it can only continue`,
  )
}

/** Votes are about to move, or have moved already. */
export function isRevocable(operation: Cancellable): boolean {
  return isMembershipKind(operation) && MOVES_VOTES.some((step) => step === operation.cursor)
}

function isMembershipKind({ kind }: Cancellable): boolean {
  return MEMBERSHIP_KINDS.some((one) => one === kind)
}
