/**
 * Keeps the machine at the members that are committed, and tells the cluster who this node is.
 *
 * Owns: which weight and which place a phase means. Knows nothing of: addresses in use, files, votes.
 * Rule: the row is the truth and is looked at again and again; a member that leaves takes nothing new, a lost one is not asked at all.
 */
import type { KnownMembers, Member, MembershipPort } from '../../cluster/index.ts'
import { COMMAND_LEVELS } from '../state-machine/command-levels.ts'
import { memberIn, membersOf } from '../state-machine/members/members.ts'
import type { FirstMember, MemberRecord, MembersRecord } from '../state-machine/members/records.ts'
import type { StateReader } from '../store/reads/state-reader.ts'
import type { Propose } from '../commands/propose.ts'

export interface FollowingParts {
  readonly nodeId: string
  readonly membership: MembershipPort
  readonly isJobRunner: () => boolean
  readonly state: Pick<StateReader, 'view'>
  readonly propose: Propose
  /** As configured. */
  readonly founders: readonly FirstMember[]
  readonly self: { readonly version: string; readonly dataAddress: string; readonly adminAddress: string }
}

/** One round of a worker; there is never more to do at once. As long as a member is too old nothing is founded. Throws Condition. */
export async function followMembers(parts: FollowingParts): Promise<boolean> {
  const { nodeId, membership, isJobRunner, state, propose, founders } = parts
  const present = membersOf(state.view)
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

function asMember({ nodeId, peerAddress, zone, weight, phase }: MemberRecord): Member {
  return { nodeId, peerAddress, zone, weight: phase === 'active' ? weight : 0 }
}

async function introduce(
  { nodeId, membership, propose, self }: FollowingParts,
  own: MemberRecord,
): Promise<void> {
  const { incarnation } = membership.local()
  const { peerAddress, zone, weight } = membership.ownPlace ?? own
  const says = { incarnation, peerAddress, zone, weight, ...self }
  const isSaid = (Object.keys(says) as (keyof typeof says)[]).every((name) => own[name] === says[name])
  // Of another directory under this name nothing is said: the others do not hear it anyway.
  if (isSaid || (own.incarnation !== null && own.incarnation !== incarnation)) return
  await propose({ type: 'introduceMember', nodeId, ...says })
}
