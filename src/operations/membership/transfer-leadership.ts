/** transferLeadership: authorize -> the target is a voter that answers -> the leader hands over. Nothing is committed. [decisions 12] */
import { adminToken } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import { memberIn, membersOf } from '../../state-machine/members/members.ts'
import { adminOperation } from '../base/operation.ts'
import { givenReason } from '../base/reason.ts'
import { noTarget } from '../base/targets.ts'
import { votersWithout } from './change-members.ts'
import { answers, collectMemberStatuses, gate, leaderIn } from './member-statuses.ts'

export interface Transferred {
  readonly before: string | null
  readonly target: string | null
  readonly isDone: boolean
}

export const transferLeadership = adminOperation(
  {
    id: 'transferLeadership',
    requires: adminToken('owner', 'cluster'),
    refuses: ['not_found', 'precondition_failed'],
    target: noTarget,
  },
  async (
    services,
    principal,
    { nodeId: target = null, reason }: { readonly nodeId?: string | null; readonly reason: string },
  ): Promise<Transferred> => {
    givenReason(reason, 'hand over the lead')
    const { membership } = services.cluster
    const member = target === null ? undefined : memberIn(membersOf(services.state), target)
    if (target !== null && member === undefined)
      throw new Refusal(
        'not_found',
        `Cannot hand over the lead: no member is called "${target.slice(0, 64)}"; name a voter, or none`,
      )
    const memberStatuses = await collectMemberStatuses(services)
    const before = leaderIn(memberStatuses)?.nodeId ?? null
    if (target !== null && before === target) return { before, target, isDone: false }
    if (target !== null && (member?.phase !== 'active' || !answers(memberStatuses, target)))
      throw gate(
        'learner_not_ready',
        `Cannot hand over the lead: "${target}" has no vote, or does not answer; name another voter, or none`,
      )
    const heirs = votersWithout(membersOf(services.state), before ?? '').filter((nodeId) =>
      answers(memberStatuses, nodeId),
    )
    if (heirs.length === 0)
      throw gate(
        'learner_not_ready',
        'Cannot hand over the lead: no other voter answers; bring one back first',
      )
    await membership.transfer(target)
    return { before, target, isDone: true }
  },
)
