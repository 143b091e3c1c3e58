/**
 * A node that reports itself: its directory, version, addresses and what its file says of its place.
 *
 * Rule: the first data directory that reports under a name keeps it; what an operator set for the member holds over its file.
 */
import type { Draft } from '../base/draft.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'
import type { ApplyContext } from '../base/view.ts'
import type { MembershipCommand } from './commands.ts'
import { memberIn, membersOf, putMembers, replaced } from './members.ts'
import { fileOf, withFile } from './placing.ts'
import type { FilePlace, MemberRecord, MembersRecord } from './records.ts'

type Introduction = Extract<MembershipCommand, { type: 'introduceMember' }>

/** Members of a record that other nodes have to learn when they change. */
const PLACE = ['peerAddress', 'zone', 'weight'] as const

/** Idempotent. The addresses and the version of a node may change; its data directory may not. */
export function introduceMember(
  draft: Draft,
  command: Introduction,
  context: ApplyContext,
): Accepted<MembersRecord> | Refused {
  const { type: _, nodeId, ...reported } = command
  const present = membersOf(draft)
  const member = memberIn(present, nodeId)
  if (member === undefined) return refuse('not_found', `Node "${nodeId}" is not a member`)
  if (member.incarnation !== null && member.incarnation !== reported.incarnation) {
    return refuse(
      'member_tombstoned',
      `Cannot introduce "${nodeId}": this name belongs to another data directory permanently`,
    )
  }
  const taken = present.members.find((one) => one !== member && one.peerAddress === reported.peerAddress)
  if (taken !== undefined)
    return refuse('address_in_use', `Cannot introduce "${nodeId}": "${taken.nodeId}" has its address`)
  const { zone, weight, ...facts } = reported
  const updated = withFile({ ...member, ...facts }, { zone, weight })
  const isMoved =
    PLACE.some((name) => member[name] !== updated[name]) || !isSameFile(member, { zone, weight })
  const configIndex = isMoved ? context.index : present.configIndex
  const introduced = { ...replaced(present, updated), configIndex }
  putMembers(draft, introduced)
  return accept(introduced)
}

const isSameFile = (member: MemberRecord, { zone, weight }: FilePlace): boolean =>
  fileOf(member).zone === zone && fileOf(member).weight === weight
