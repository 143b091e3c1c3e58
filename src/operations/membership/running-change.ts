/**
 * A change that is asked for again while it runs: its operation is the answer.
 *
 * Owns: what counts as the same change. Knows nothing of: what a change does.
 * Rule: a caller that lost an answer may repeat the request in the same words; any other request is refused.
 */
import { Refusal } from '../../base/refusal.ts'
import { memberIn, membersOf } from '../../state-machine/members/members.ts'
import { isFinished } from '../../state-machine/long-operations/operations.ts'
import type { MembershipKind, LongOperation } from '../../state-machine/long-operations/records.ts'
import type { Services } from '../base/services.ts'
import { longOperationKeys } from '../../state-machine/long-operations/keys.ts'
import { unfinishedOperations } from '../../state-machine/long-operations/operations.ts'

export interface AskedChange {
  readonly kind: MembershipKind
  readonly nodeId: string
  readonly newcomer: {
    readonly nodeId: string
    readonly peerAddress: string
    readonly zone?: string
    readonly weight?: number
  } | null
}

/** The unfinished operation that does just this; undefined: none does. */
export function runningChange({ state }: Services, asked: AskedChange): LongOperation | undefined {
  const { kind, nodeId, newcomer } = asked
  if (newcomer !== null) {
    const member = memberIn(membersOf(state), newcomer.nodeId)
    const { zone = member?.zone, weight = member?.weight } = newcomer
    const isSame = member?.peerAddress === newcomer.peerAddress && member.zone === zone
    if (!isSame || member.weight !== weight) return undefined
  }
  return unfinishedOperations(state).find(
    (one) =>
      one.kind === kind &&
      one.node === nodeId &&
      (newcomer === null || one.newcomer === newcomer.nodeId) &&
      one.isRevoked !== true,
  )
}

/** Throws Refusal while a change that was given up still has to send this newcomer away. */
export function refuseWhileGivenUp({ state }: Services, nodeId: string): void {
  const { change } = membersOf(state)
  const operation = change === null ? undefined : state.get(longOperationKeys.operation(change))
  if (operation === undefined || (operation.newcomer ?? operation.node) !== nodeId) return
  if (!isFinished(operation.status) && operation.isRevoked !== true) return
  throw new Refusal(
    'membership_change_in_progress',
    `Cannot take in "${nodeId}": operation "${operation.operationId}" was given up and still sends it away; ask again in a moment`,
  )
}
