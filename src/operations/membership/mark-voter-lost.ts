/**
 * markVoterLost: authorize -> confirm -> nobody has heard it for a while -> the voters left are a majority -> commit. Its name never comes
 * back; its copies are made again elsewhere. [decisions 12: lost]
 */
import { authorize } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import { memberIn, membersOf } from '../../state-machine/members/members.ts'
import type { Services } from '../base/services.ts'
import {
  changeMembers,
  type ChangeBegun,
  confirm,
  type MembershipRequest,
  votersWithout,
} from './change-members.ts'
import { runningChange } from './running-change.ts'
import {
  requireMajority,
  requireQuorumOfOthers,
  requireSilence,
  seenIn,
  collectMemberStatuses,
} from './member-statuses.ts'

export async function markVoterLost(
  services: Services,
  principal: AdminTokenPrincipal,
  {
    nodeId,
    confirm: given,
    ...requested
  }: MembershipRequest & { readonly nodeId: string; readonly confirm: string },
): Promise<ChangeBegun> {
  authorize(principal, 'markVoterLost', {})
  confirm(given, nodeId)
  const memberStatuses = await collectMemberStatuses(services)
  const present = membersOf(services.state.view)
  const left = votersWithout(present, nodeId)
  const phase = memberIn(present, nodeId)?.phase
  if (phase !== undefined && phase !== 'lost') {
    requireSilence(memberStatuses, nodeId)
    const what = `call "${nodeId}" lost`
    const requireEnough = phase === 'active' ? requireQuorumOfOthers : requireMajority
    if (left.length > 0) requireEnough(memberStatuses, left, what)
  }
  const change = { kind: 'lost', nodeId, newcomer: null, seen: seenIn(memberStatuses) } as const
  const running = runningChange(services, change)
  if (running !== undefined) return { operation: running, nodeId, configIndex: present.configIndex }
  return changeMembers(services, principal, { requested, change, lookedAt: present.configIndex })
}
