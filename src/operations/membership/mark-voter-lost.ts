/**
 * markVoterLost: authorize -> confirm -> reason -> no node had contact with it for a while -> the voters left are a majority -> commit. Its name never comes
 * back; its copies are made again elsewhere. [decisions 12: lost]
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
import {
  collectMemberStatuses,
  requireMajority,
  requireQuorumOfOthers,
  requireSilence,
  seenIn,
} from './member-statuses.ts'
import { runningChange } from './running-change.ts'

export const markVoterLost = adminOperation(
  {
    id: 'markVoterLost',
    requires: adminToken('owner', 'cluster'),
    refuses: [...CHANGE_REFUSALS, 'not_found', 'confirm_mismatch'],
    target: noTarget,
  },
  async (
    services,
    principal,
    { nodeId, ...asked }: MembershipRequest & { readonly nodeId: string; readonly confirm: string },
  ): Promise<StartedChange> => {
    const requested = readRequest('lost', nodeId, asked)
    const memberStatuses = await collectMemberStatuses(services)
    const present = membersOf(services.state)
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
  },
)
