/**
 * demoteVoter: authorize -> the voters left are a majority that answers -> commit. A leader hands over first; then the vote goes, and the
 * copies move away. [decisions 12: demote]
 */
import { authorize } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import { memberIn, membersOf } from '../../state-machine/members/members.ts'
import type { Services } from '../base/services.ts'
import { changeMembers, type ChangeBegun, type MembershipWish, votersWithout } from './change-members.ts'
import { requireMajority, seenIn, surveyMembers } from './survey.ts'

export async function demoteVoter(
  services: Services,
  principal: AdminTokenPrincipal,
  { nodeId, ...wish }: MembershipWish & { readonly nodeId: string },
): Promise<ChangeBegun> {
  authorize(principal, 'demoteVoter', {})
  const survey = await surveyMembers(services)
  const present = membersOf(services.state.view)
  const left = votersWithout(present, nodeId)
  // Of anybody else, and of the last one, rows say what there is to say.
  const isVoter = memberIn(present, nodeId)?.phase === 'active'
  if (isVoter && left.length > 0) requireMajority(survey, left, `demote "${nodeId}"`)
  const change = { kind: 'demote', nodeId, newcomer: null, seen: seenIn(survey) } as const
  return changeMembers(services, principal, { wish, change, lookedAt: present.configIndex })
}
