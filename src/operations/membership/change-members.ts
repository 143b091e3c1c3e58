/**
 * The common end of every operation that changes the members: rows decide, an operation begins, the leader carries it out.
 *
 * Owns: what callers say of themselves and of what they have seen. Rule: repeating what is done already begins nothing.
 */
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import { Refusal } from '../../base/refusal.ts'
import { newOperationId } from '../../commands/operation-id.ts'
import { settle } from '../../commands/settle.ts'
import { membersOf } from '../../state-machine/members/members.ts'
import type { MembersRecord, NewMember } from '../../state-machine/members/records.ts'
import type { MembershipKind, LongOperation } from '../../state-machine/long-operations/records.ts'
import type { Operation } from '../base/operation.ts'
import { givenReason } from '../base/reason.ts'
import type { Services } from '../base/services.ts'
import { begunWith } from './held-copies.ts'
import type { SeenNewcomer } from './newcomer.ts'
import { runningChange } from './running-change.ts'

/** Codes that every operation answers which changes the members. */
export const CHANGE_REFUSALS: Operation['refuses'] = [
  'precondition_failed',
  'membership_change_in_progress',
  'stale_config_index',
]

export interface MembershipRequest {
  readonly reason: string
  readonly expectedConfigIndex?: number
}

export interface StartedChange {
  /** Null: the cluster is as it was asked for already. */
  readonly operation: LongOperation | null
  readonly nodeId: string
  readonly configIndex: number
  /** Who is taken in. */
  readonly newcomer?: SeenNewcomer
}

interface Changing {
  readonly requested: MembershipRequest
  readonly change: Change
  /** As of when the members were looked at, where that decided: what they are now may need other answers. */
  readonly lookedAt?: number
}

interface Change {
  readonly kind: MembershipKind
  readonly nodeId: string
  readonly newcomer: NewMember | null
  readonly seen: string
}

export async function changeMembers(
  services: Services,
  principal: AdminTokenPrincipal,
  { requested, change, lookedAt }: Changing,
): Promise<StartedChange> {
  const { nodeId } = change
  const figures = await begunWith(services, change)
  try {
    const started = settle(
      await services.propose({
        type: 'startMembership',
        operationId: newOperationId(),
        requestedBy: principal.tokenId,
        reason: requested.reason,
        expectedConfigIndex: requested.expectedConfigIndex ?? lookedAt ?? null,
        ...change,
        ...figures,
      }),
    )
    return { ...started, nodeId }
  } catch (error) {
    // Two requests in the same words at once: the second is answered with the operation of the first.
    const isLate = error instanceof Refusal && error.code === 'membership_change_in_progress'
    const operation = isLate ? runningChange(services, change) : undefined
    if (operation === undefined) throw error
    return { operation, nodeId, configIndex: membersOf(services.state).configIndex }
  }
}

/**
 * Before any look at the members: what is wrong with a request itself is no blocker that may go away. `confirm`: of changes that take the
 * name of the member once more. Throws Refusal `confirm_mismatch`, `reason_required`.
 */
export function readRequest(
  kind: MembershipKind,
  nodeId: string,
  { confirm, ...asked }: MembershipRequest & { readonly confirm?: string },
): MembershipRequest {
  if (confirm !== undefined && confirm !== nodeId)
    throw new Refusal(
      'confirm_mismatch',
      `"confirm" is "${confirm.slice(0, 64)}", and the member is "${nodeId.slice(0, 64)}": repeat its name there`,
    )
  return { ...asked, reason: givenReason(asked.reason, `${kind} "${nodeId.slice(0, 64)}"`) }
}

/** Those with a vote as rows say, without the named one. */
export function votersWithout({ members }: MembersRecord, nodeId: string): readonly string[] {
  return members.filter((one) => one.phase === 'active' && one.nodeId !== nodeId).map((one) => one.nodeId)
}
