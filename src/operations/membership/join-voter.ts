/**
 * joinVoter: authorize -> rows allow the name and its addresses -> the node answers and waits -> commit. It becomes a learner, catches
 * up and gets its vote afterwards. [decisions 12: join]
 */
import { authorize } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/principal.ts'
import { Refusal } from '../../refusal.ts'
import { memberIn, membersOf, newcomerFault } from '../../state-machine/members.ts'
import type { Services } from '../services.ts'
import { changeMembers, type ChangeBegun, type MembershipWish } from './change-members.ts'
import { newcomerOf, type NewcomerWish, seenText } from './newcomer.ts'

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
  // Before anybody is asked: a name that is taken must not be called at somebody else's address.
  refuseTaken(services, wish)
  const { member, seen } = await newcomerOf(membership, wish)
  const change = { kind: 'join', nodeId, newcomer: member, seen: seenText(seen) } as const
  return { ...(await changeMembers(services, principal, { wish, change })), newcomer: seen }
}

/** Throws Refusal when rows say no already. */
export function refuseTaken({ state }: Services, wish: NewcomerWish): void {
  const { dataAddress = null, adminAddress = null, zone = 'default', weight = 1 } = wish
  const asked = { ...wish, dataAddress, adminAddress, zone, weight, incarnation: '', version: '' }
  const fault = newcomerFault(membersOf(state.view), asked)
  if (fault !== null) throw new Refusal(fault.code, fault.message)
}
