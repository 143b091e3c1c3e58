/**
 * The members of the cluster.
 *
 * Owns: the members row, its phases, which node may be added. Knows nothing of: reachability, logs, how a vote moves.
 * Rules: every fact that follows from rows is decided here, regardless of earlier checks; one operation at a time may change votes;
 * a step is taken once, from the step before it; the name of a departed member is not reused while the row lists it; the last voter
 * stays.
 */
import { memberKeys } from './keys.ts'
import type { ApplyContext, View } from '../base/view.ts'
import { isKeyPart } from '../base/row-key.ts'
import type { Draft } from '../base/draft.ts'
import type { MembershipCommand, MembershipReplies } from './commands.ts'
import {
  DEPARTED_MAX,
  type DepartedRecord,
  type FirstMember,
  MEMBER_RULES_LEVEL,
  type MemberRecord,
  MEMBERS_MAX,
  type MembersRecord,
  type NewMember,
  REMEMBERED_MAX,
} from './records.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'

type Of<T extends MembershipCommand['type']> = Extract<MembershipCommand, { type: T }>

const NO_MEMBERS: MembersRecord = { members: [], departed: [], configIndex: 0, change: null }

export function membersOf(view: View): MembersRecord {
  return view.get(memberKeys.members()) ?? NO_MEMBERS
}

/** Whether the node may get copies. False for a drained node, which stays empty, and for one that is gone. */
export function mayHold(view: View, node: string): boolean {
  return view.get(memberKeys.leavingNodes())?.nodes.includes(node) !== true
}

/** Also writes the row that every new copy reads; it exists only once a member has left. */
export function putMembers(draft: Draft, members: MembersRecord): void {
  draft.put(memberKeys.members(), members)
  const leaving = members.members.filter(({ phase }) => phase === 'drained' || phase === 'lost')
  const nodes = [...new Set([...leaving, ...members.departed].map(({ nodeId }) => nodeId))]
  if (nodes.length > 0) draft.put(memberKeys.leavingNodes(), { nodes })
}

/** The first writer wins: it sets the first members, and repeating it changes nothing. */
export function foundMembers(
  draft: Draft,
  { members }: Of<'foundMembers'>,
  context: ApplyContext,
): Accepted<MembersRecord> | Refused {
  const present = draft.get(memberKeys.members())
  if (present !== undefined) return accept(present)
  const areNamed = members.every(({ nodeId }) => isKeyPart(nodeId))
  if (!areNamed || members.length < 1 || members.length > MEMBERS_MAX)
    return refuse('invalid_argument', `Cannot found the cluster: 1 to ${MEMBERS_MAX} members are expected`)
  const founded: MembersRecord = {
    members: members.map((member) => founder(member, context)),
    departed: [],
    configIndex: context.index,
    change: null,
  }
  putMembers(draft, founded)
  return accept(founded)
}

function founder(member: FirstMember, { time }: ApplyContext): MemberRecord {
  return { ...member, incarnation: null, version: null, phase: 'active', addedAt: time }
}

export function memberIn({ members }: MembersRecord, nodeId: string): MemberRecord | undefined {
  return members.find((member) => member.nodeId === nodeId)
}

export function replaced(present: MembersRecord, changed: MemberRecord): MembersRecord {
  const members = present.members.map((member) => (member.nodeId === changed.nodeId ? changed : member))
  return { ...present, members }
}

export function added(present: MembersRecord, joining: NewMember, time: number): MembersRecord {
  const member: MemberRecord = { ...joining, phase: 'joining', addedAt: time }
  return { ...present, members: [...present.members, member] }
}

/** Adds the name to the departed members, unless it is among them already. */
export function departing(
  present: MembersRecord,
  leavingNode: { readonly nodeId: string; readonly how: 'lost' | 'removed'; readonly reason: string | null },
  { index, time, featureLevel }: ApplyContext,
): MembersRecord {
  const { nodeId } = leavingNode
  if (present.departed.some((gone) => gone.nodeId === nodeId)) return present
  const incarnation = memberIn(present, nodeId)?.incarnation ?? null
  const departed = [...present.departed, { ...leavingNode, incarnation, at: time, index }]
  return { ...present, departed: featureLevel < MEMBER_RULES_LEVEL ? departed : latest(departed) }
}

/**
 * Forgets the oldest removed members beyond REMEMBERED_MAX. A removed member was proved empty, so no chunk names it, and other nodes
 * ignore messages under a name that no member has. A lost member stays, because it may be the only node that a chunk names.
 */
function latest(departed: readonly DepartedRecord[]): readonly DepartedRecord[] {
  const emptied = departed.filter(({ how }) => how === 'removed')
  const forgotten = new Set(emptied.slice(0, Math.max(0, departed.length - REMEMBERED_MAX)))
  return departed.filter((gone) => !forgotten.has(gone))
}

/** Why this node cannot join, as far as rows show. */
export function joinFault(
  present: MembersRecord,
  joining: NewMember,
  { featureLevel }: Pick<ApplyContext, 'featureLevel'>,
): Refused | null {
  const { nodeId, peerAddress, dataAddress, adminAddress } = joining
  const cannot = `Cannot take in "${nodeId}"`
  if (!isKeyPart(nodeId)) return refuse('invalid_argument', `${cannot}: the name is malformed`)
  if (present.departed.some((gone) => gone.nodeId === nodeId))
    return refuse(
      'member_tombstoned',
      `${cannot}: a member of this name was removed or lost; choose another name and an empty data directory`,
    )
  if (memberIn(present, nodeId) !== undefined)
    return refuse('member_exists', `${cannot}: a member has this name; choose one that was never used`)
  const taken = present.members.find(
    (member) =>
      member.peerAddress === peerAddress ||
      (dataAddress !== null && member.dataAddress === dataAddress) ||
      (adminAddress !== null && member.adminAddress === adminAddress),
  )
  if (taken !== undefined)
    return refuse(
      'address_in_use',
      `${cannot}: "${taken.nodeId}" has one of its addresses; name the addresses of the new node itself`,
    )
  if (present.members.length >= MEMBERS_MAX)
    return refuse(
      'precondition_failed',
      `${cannot}: there are ${MEMBERS_MAX} members, and more are not allowed`,
    )
  const isForgetful = featureLevel >= MEMBER_RULES_LEVEL
  const kept = present.departed.filter(({ how }) => !isForgetful || how === 'lost').length
  if (kept < (isForgetful ? REMEMBERED_MAX : DEPARTED_MAX)) return null
  return refuse('precondition_failed', `${cannot}: ${kept} members have left, and more cannot be recorded`)
}

export type StartedMembership = Accepted<MembershipReplies['startMembership']> | Refused
