/**
 * Keeps the machine at the committed members, and reports this node to the cluster.
 *
 * Owns: which weight and which placement a phase means. Knows nothing of: addresses in use, files, votes.
 * Rule: the committed row decides and is read again in every round; a leaving member takes nothing new, a lost one is not contacted.
 */
import type { KnownMembers, Member, MembershipPort } from '../../cluster/index.ts'
import { COMMAND_LEVELS } from '../state-machine/command-levels.ts'
import { memberIn, membersOf } from '../state-machine/members/members.ts'
import { fileOf } from '../state-machine/members/placing.ts'
import type { FirstMember, MemberRecord, MembersRecord } from '../state-machine/members/records.ts'
import type { View } from '../state-machine/base/view.ts'
import type { Propose } from '../commands/propose.ts'

export interface FollowingParts {
  readonly nodeId: string
  readonly membership: MembershipPort
  readonly isJobRunner: () => boolean
  readonly state: View
  readonly propose: Propose
  /** As configured. */
  readonly founders: readonly FirstMember[]
  readonly self: { readonly version: string; readonly dataAddress: string; readonly adminAddress: string }
}

/** One round of a worker; there is never more to do at once. While a member runs an older build, the member rows are not created. Throws Condition. */
export async function followMembers(parts: FollowingParts): Promise<boolean> {
  const { nodeId, membership, isJobRunner, state, propose, founders } = parts
  const present = membersOf(state)
  if (present.members.length === 0) {
    const isMine = isJobRunner() && !membership.isJoining
    const isKnown = isMine && membership.local().stateLevel >= COMMAND_LEVELS.foundMembers
    if (isKnown) await propose({ type: 'foundMembers', members: founders })
    return false
  }
  const own = memberIn(present, nodeId)
  await membership.setMembers(knownMembers(present), own === undefined || own.phase === 'joining')
  if (own !== undefined && own.phase !== 'lost') await introduce(parts, own)
  return false
}

export function knownMembers({ members, departed, configIndex: index }: MembersRecord): KnownMembers {
  return {
    members: members.filter(({ phase }) => phase !== 'lost').map(asMember),
    departed: departed.map(({ nodeId }) => nodeId),
    index,
  }
}

function asMember({ nodeId, peerAddress, zone, weight, phase, placement }: MemberRecord): Member {
  const file = placement === undefined ? {} : { file: placement.file }
  return { nodeId, peerAddress, zone, weight: phase === 'active' ? weight : 0, ...file }
}

async function introduce(
  { nodeId, membership, propose, self }: FollowingParts,
  own: MemberRecord,
): Promise<void> {
  const { incarnation } = membership.identity
  const reported = { ...own, ...fileOf(own) }
  const { peerAddress, zone, weight } = membership.ownPlace ?? reported
  const says = { incarnation, peerAddress, zone, weight, ...self }
  const isSaid = (Object.keys(says) as (keyof typeof says)[]).every((name) => reported[name] === says[name])
  // Nothing is reported about another directory under this name: the other nodes do not accept its messages.
  if (isSaid || (own.incarnation !== null && own.incarnation !== incarnation)) return
  await propose({ type: 'introduceMember', nodeId, ...says })
}
