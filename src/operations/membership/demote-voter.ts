/**
 * demoteVoter: authorize -> the voters left are a majority that answers -> commit. A leader hands over first; then the vote goes, and the
 * copies move away. [decisions 12: demote]
 */
import { authorize } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import { memberIn, membersOf } from '../../state-machine/members/members.ts'
import type { Services } from '../base/services.ts'
import { changeMembers, type ChangeBegun, type MembershipRequest, votersWithout } from './change-members.ts'
import { requireMajority, seenIn, collectMemberStatuses } from './member-statuses.ts'

export async function demoteVoter(
  services: Services,
  principal: AdminTokenPrincipal,
  { nodeId, ...requested }: MembershipRequest & { readonly nodeId: string },
): Promise<ChangeBegun> {
  authorize(principal, 'demoteVoter', {})
  const memberStatuses = await collectMemberStatuses(services)
  const present = membersOf(services.state.view)
  const left = votersWithout(present, nodeId)
  // Of anybody else, and of the last one, rows say what there is to say.
  const isVoter = memberIn(present, nodeId)?.phase === 'active'
  if (isVoter && left.length > 0) requireMajority(memberStatuses, left, `demote "${nodeId}"`)
  const change = { kind: 'demote', nodeId, newcomer: null, seen: seenIn(memberStatuses) } as const
  return changeMembers(services, principal, { requested, change, lookedAt: present.configIndex })
}
