/**
 * joinVoter: authorize -> reason -> it has joined, or joins already -> rows allow the name and its addresses -> the node answers and waits ->
 * commit. It becomes a learner, catches up and gets its vote afterwards. [decisions 12: join]
 */
import { adminToken } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import { memberIn, membersOf, joinFault } from '../../state-machine/members/members.ts'
import { changeFault } from '../../state-machine/members/membership.ts'
import { adminOperation } from '../base/operation.ts'
import type { Services } from '../base/services.ts'
import { noTarget } from '../base/targets.ts'
import {
  CHANGE_REFUSALS,
  type StartedChange,
  changeMembers,
  type MembershipRequest,
  readRequest,
} from './change-members.ts'
import {
  NEWCOMER_REFUSALS,
  newcomerOf,
  type NewcomerRequest,
  requireCertificate,
  requireForm,
  seenText,
} from './newcomer.ts'
import { refuseWhileGivenUp, runningChange } from './running-change.ts'

export const joinVoter = adminOperation(
  {
    id: 'joinVoter',
    requires: adminToken('owner', 'cluster'),
    refuses: [...CHANGE_REFUSALS, ...NEWCOMER_REFUSALS],
    target: noTarget,
  },
  async (services, principal, asked: NewcomerRequest & MembershipRequest): Promise<StartedChange> => {
    const { nodeId, peerAddress } = asked
    const requested = { ...asked, ...readRequest('join', nodeId, asked) }
    requireForm(asked)
    const { membership } = services.cluster
    const present = membersOf(services.state)
    const known = memberIn(present, nodeId)
    if (known?.phase === 'active' && known.peerAddress === peerAddress)
      return { operation: null, nodeId, configIndex: present.configIndex }
    const running = runningChange(services, { kind: 'join', nodeId, newcomer: requested })
    if (running !== undefined) {
      await requireCertificate(membership, requested)
      return { operation: running, nodeId, configIndex: present.configIndex }
    }
    refuseWhileGivenUp(services, nodeId)
    // Before any node is contacted: a name that is taken must not be called at another node's address.
    refuseTaken(services, requested)
    const { member, seen } = await newcomerOf(membership, requested)
    const change = { kind: 'join', nodeId, newcomer: member, seen: seenText(seen) } as const
    return { ...(await changeMembers(services, principal, { requested, change })), newcomer: seen }
  },
)

/** Throws Refusal when rows say no already. */
export function refuseTaken(
  { state, cluster }: Services,
  requested: NewcomerRequest & { expectedConfigIndex?: number },
): void {
  const { dataAddress = null, adminAddress = null, zone = 'default', weight = 1 } = requested
  const asked = { ...requested, dataAddress, adminAddress, zone, weight, incarnation: '', version: '' }
  const present = membersOf(state)
  const fault =
    joinFault(present, asked, { featureLevel: cluster.membership.local().stateLevel }) ??
    changeFault(present, { expectedConfigIndex: requested.expectedConfigIndex ?? null })
  if (fault !== null) throw new Refusal(fault.code, fault.message)
}
