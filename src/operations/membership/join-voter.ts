/**
 * joinVoter: authorize -> it has joined, or joins already -> rows allow the name and its addresses -> the node answers and waits ->
 * commit. It becomes a learner, catches up and gets its vote afterwards. [decisions 12: join]
 */
import { authorize } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import { Refusal } from '../../base/refusal.ts'
import { memberIn, membersOf, newcomerFault } from '../../state-machine/members/members.ts'
import { changeFault } from '../../state-machine/members/membership.ts'
import type { Services } from '../base/services.ts'
import { changeMembers, type ChangeBegun, type MembershipWish } from './change-members.ts'
import { newcomerOf, type NewcomerWish, requireCertificate, seenText } from './newcomer.ts'
import { refuseWhileGivenUp, runningChange } from './running-change.ts'

export async function joinVoter(
  services: Services,
  principal: AdminTokenPrincipal,
  wish: NewcomerWish & MembershipWish,
): Promise<ChangeBegun> {
  authorize(principal, 'joinVoter', {})
  const { membership } = services.cluster
  const present = membersOf(services.state.view)
  const { nodeId, peerAddress } = wish
  const known = memberIn(present, nodeId)
  if (known?.phase === 'active' && known.peerAddress === peerAddress)
    return { operation: null, nodeId, configIndex: present.configIndex }
  const running = runningChange(services, { kind: 'join', nodeId, newcomer: wish })
  if (running !== undefined) {
    await requireCertificate(membership, wish)
    return { operation: running, nodeId, configIndex: present.configIndex }
  }
  refuseWhileGivenUp(services, nodeId)
  // Before anybody is asked: a name that is taken must not be called at somebody else's address.
  refuseTaken(services, wish)
  const { member, seen } = await newcomerOf(membership, wish)
  const change = { kind: 'join', nodeId, newcomer: member, seen: seenText(seen) } as const
  return { ...(await changeMembers(services, principal, { wish, change })), newcomer: seen }
}

/** Throws Refusal when rows say no already. */
export function refuseTaken(
  { state, cluster }: Services,
  wish: NewcomerWish & { expectedConfigIndex?: number },
): void {
  const { dataAddress = null, adminAddress = null, zone = 'default', weight = 1 } = wish
  const asked = { ...wish, dataAddress, adminAddress, zone, weight, incarnation: '', version: '' }
  const present = membersOf(state.view)
  const fault =
    newcomerFault(present, asked, { featureLevel: cluster.membership.local().stateLevel }) ??
    changeFault(present, { expectedConfigIndex: wish.expectedConfigIndex ?? null })
  if (fault !== null) throw new Refusal(fault.code, fault.message)
}
