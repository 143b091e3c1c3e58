/** transferLeadership: authorize -> the target is a voter that answers -> the leader hands over. Nothing is committed. [decisions 12] */
import { authorize } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import { Refusal } from '../../base/refusal.ts'
import { memberIn, membersOf } from '../../state-machine/members/members.ts'
import { givenReason } from '../base/reason.ts'
import type { Services } from '../base/services.ts'
import { votersWithout } from './change-members.ts'
import { answers, gate, leaderIn, collectMemberStatuses } from './member-statuses.ts'

export interface Transferred {
  readonly before: string | null
  readonly target: string | null
  readonly isDone: boolean
}

export async function transferLeadership(
  services: Services,
  principal: AdminTokenPrincipal,
  { nodeId: target = null, reason }: { readonly nodeId?: string | null; readonly reason: string },
): Promise<Transferred> {
  authorize(principal, 'transferLeadership', {})
  givenReason(reason, 'hand over the lead')
  const { membership } = services.cluster
  const member = target === null ? undefined : memberIn(membersOf(services.state.view), target)
  if (target !== null && member === undefined)
    throw new Refusal(
      'not_found',
      `Cannot hand over the lead: no member is called "${target.slice(0, 64)}"; name a voter, or nobody`,
    )
  const memberStatuses = await collectMemberStatuses(services)
  const before = leaderIn(memberStatuses)?.nodeId ?? null
  if (target !== null && before === target) return { before, target, isDone: false }
  if (target !== null && (member?.phase !== 'active' || !answers(memberStatuses, target)))
    throw gate(
      'learner_not_ready',
      `Cannot hand over the lead: "${target}" has no vote, or does not answer; name another voter, or nobody`,
    )
  const heirs = votersWithout(membersOf(services.state.view), before ?? '').filter((nodeId) =>
    answers(memberStatuses, nodeId),
  )
  if (heirs.length === 0)
    throw gate('learner_not_ready', 'Cannot hand over the lead: no other voter answers; bring one back first')
  await membership.transfer(target)
  return { before, target, isDone: true }
}
