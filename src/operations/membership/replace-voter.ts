/**
 * replaceVoter: authorize -> confirm -> reason -> rows allow the newcomer -> it answers and waits -> the voters of afterwards are a majority that
 * answers -> commit. One change of votes takes the new member in and the old one out. [decisions 12: replace]
 */
import { adminToken } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
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
import { refuseTaken } from './join-voter.ts'
import { collectMemberStatuses, requireMajority, SEEN_CHARS_MAX, seenIn } from './member-statuses.ts'
import {
  NEWCOMER_REFUSALS,
  newcomerOf,
  type NewcomerRequest,
  requireCertificate,
  requireForm,
  seenText,
} from './newcomer.ts'
import { refuseWhileGivenUp, runningChange } from './running-change.ts'

export interface ReplacementRequest extends MembershipRequest {
  readonly nodeId: string
  readonly confirm: string
  readonly replacement: NewcomerRequest
}

export const replaceVoter = adminOperation(
  {
    id: 'replaceVoter',
    requires: adminToken('owner', 'cluster'),
    refuses: [...CHANGE_REFUSALS, ...NEWCOMER_REFUSALS, 'not_found', 'confirm_mismatch'],
    target: noTarget,
  },
  async (
    services,
    principal,
    { nodeId, replacement: named, ...asked }: ReplacementRequest,
  ): Promise<StartedChange> => {
    const requested = readRequest('replace', nodeId, asked)
    requireForm(named)
    const { membership } = services.cluster
    const rows = membersOf(services.state)
    const old = memberIn(rows, nodeId)
    const isGone = old === undefined
    // A machine in the place of another fails with what the other failed with, unless somebody says otherwise.
    const replacement = { ...named, zone: named.zone ?? old?.zone ?? 'default' }
    if (isGone && memberIn(rows, replacement.nodeId)?.phase === 'active')
      return { operation: null, nodeId, configIndex: rows.configIndex }
    const running = runningChange(services, { kind: 'replace', nodeId, newcomer: replacement })
    if (running !== undefined) {
      await requireCertificate(membership, replacement)
      return { operation: running, nodeId, configIndex: rows.configIndex }
    }
    refuseWhileGivenUp(services, replacement.nodeId)
    if (isGone && rows.members.length > 0)
      throw new Refusal(
        'not_found',
        `Cannot replace "${nodeId.slice(0, 64)}": no member has this name; look at who the members are`,
      )
    const { expectedConfigIndex } = requested
    refuseTaken(services, {
      ...replacement,
      ...(expectedConfigIndex === undefined ? {} : { expectedConfigIndex }),
    })
    const { member, seen } = await newcomerOf(membership, replacement)
    const memberStatuses = await collectMemberStatuses(services)
    const present = membersOf(services.state)
    const left = votersWithout(present, nodeId)
    // The newcomer has answered just now, and counts when it has a vote.
    const afterwards = new Map([...memberStatuses, [member.nodeId, { ...membership.local(), isReady: true }]])
    requireMajority(afterwards, [...left, member.nodeId], `replace "${nodeId}"`)
    const believed = `${seenText(seen)}; ${seenIn(memberStatuses)}`.slice(0, SEEN_CHARS_MAX)
    const change = { kind: 'replace', nodeId, newcomer: member, seen: believed } as const
    return {
      ...(await changeMembers(services, principal, { requested, change, lookedAt: present.configIndex })),
      newcomer: seen,
    }
  },
)
