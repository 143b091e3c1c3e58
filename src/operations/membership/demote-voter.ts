/**
 * demoteVoter: authorize -> reason -> the voters left are a majority that answers -> commit. A leader hands over first; then the vote goes, and the
 * copies move away. [decisions 12: demote]
 */
import { adminToken } from '../../access/rights.ts'
import { memberIn, membersOf } from '../../state-machine/members/members.ts'
import { adminOperation } from '../base/operation.ts'
import { noTarget } from '../base/targets.ts'
import {
  CHANGE_REFUSALS,
  type StartedChange,
  changeMembers,
  type MembershipRequest,
  readRequest,
  votersWithout,
} from './change-members.ts'
import { collectMemberStatuses, requireMajority, seenIn } from './member-statuses.ts'

export const demoteVoter = adminOperation(
  {
    id: 'demoteVoter',
    requires: adminToken('owner', 'cluster'),
    refuses: [...CHANGE_REFUSALS, 'not_found'],
    target: noTarget,
  },
  async (
    services,
    principal,
    { nodeId, ...asked }: MembershipRequest & { readonly nodeId: string },
  ): Promise<StartedChange> => {
    const requested = readRequest('demote', nodeId, asked)
    const memberStatuses = await collectMemberStatuses(services)
    const present = membersOf(services.state)
    const left = votersWithout(present, nodeId)
    // Of any other member, and of the last voter, the rows decide.
    const isVoter = memberIn(present, nodeId)?.phase === 'active'
    if (isVoter && left.length > 0) requireMajority(memberStatuses, left, `demote "${nodeId}"`)
    const change = { kind: 'demote', nodeId, newcomer: null, seen: seenIn(memberStatuses) } as const
    return changeMembers(services, principal, { requested, change, lookedAt: present.configIndex })
  },
)
