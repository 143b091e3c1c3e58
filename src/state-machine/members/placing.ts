/**
 * The weight and the zone of a member that an operator sets instead of those in the file of its node.
 *
 * Owns: placeMember, what holds when both say something, what may not be set. Knows nothing of: where copies are, files.
 * Rule: what is set holds until it is cleared; a change that leaves fewer nodes or zones for new copies than an upload needs is refused,
 * also where only clearing makes it so.
 */
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'
import type { ApplyContext } from '../base/view.ts'
import type { Draft } from '../base/draft.ts'
import type { MembershipCommand } from './commands.ts'
import { memberIn, membersOf, putMembers, replaced } from './members.ts'
import { type FilePlace, type MemberRecord, type MembersRecord, WEIGHT_MAX } from './records.ts'

type Place = Extract<MembershipCommand, { type: 'placeMember' }>

/** Null: as in the file of the node. */
export type SetPlace = Pick<Place, 'zone' | 'weight'>

/** What the file of the node says, as far as the node has reported it. */
export function fileOf({ placement, zone, weight }: MemberRecord): FilePlace {
  return placement?.file ?? { zone, weight }
}

/** The member as it is placed with this in its file. What an operator set still holds. */
export function withFile(member: MemberRecord, file: FilePlace): MemberRecord {
  const { placement } = member
  return placement === undefined ? { ...member, ...file } : placed(member, placement, file)
}

function placed(member: MemberRecord, { zone, weight }: SetPlace, file: FilePlace): MemberRecord {
  const { placement: _, ...rest } = member
  if (zone === null && weight === null) return { ...rest, ...file }
  const effective = { zone: zone ?? file.zone, weight: weight ?? file.weight }
  return { ...rest, ...effective, placement: { zone, weight, file } }
}

/** Idempotent: what is set already leaves the row, and its index, as they are. */
export function placeMember(
  draft: Draft,
  { nodeId, zone, weight, copiesNeeded }: Place,
  context: ApplyContext,
): Accepted<MembersRecord> | Refused {
  const present = membersOf(draft)
  const cannot = `Cannot place "${nodeId}"`
  const member = memberIn(present, nodeId)
  if (member === undefined) return refuse('not_found', `${cannot}: it is not a member`)
  if (member.phase !== 'active')
    return refuse('precondition_failed', `${cannot}: it is ${member.phase}, and takes no new copies`)
  if (weight !== null && !(weight >= 0 && weight <= WEIGHT_MAX))
    return refuse('invalid_argument', `${cannot}: weight is ${weight}, expected 0 to ${WEIGHT_MAX}`)
  if (zone === '') return refuse('invalid_argument', `${cannot}: zone is empty`)
  const { placement } = member
  const isSame = (placement?.zone ?? null) === zone && (placement?.weight ?? null) === weight
  if (isSame) return accept(present)
  const after = replaced(present, placed(member, { zone, weight }, fileOf(member)))
  const fault = spreadFault(present, after, copiesNeeded)
  if (fault !== null) return refuse('precondition_failed', `${cannot}: ${fault}`)
  const changed = { ...after, configIndex: context.index }
  putMembers(draft, changed)
  return accept(changed)
}

/** A cluster that has too few already may still be changed, as long as they do not become fewer. */
function spreadFault(before: MembersRecord, after: MembersRecord, copiesNeeded: number): string | null {
  const [had, has] = [takersOf(before), takersOf(after)]
  const advice = 'give another member a weight above 0 first'
  if (has.length < copiesNeeded && has.length < had.length)
    return `${has.length} members would take new copies, and an upload needs ${copiesNeeded}; ${advice}`
  const [hadZones, zones] = [zonesOf(had), zonesOf(has)]
  if (zones >= copiesNeeded || zones >= hadZones) return null
  return `new copies would be in ${zones} of ${hadZones} zones, and an upload needs copies in ${copiesNeeded}; place another member in a further zone first`
}

const takersOf = ({ members }: MembersRecord): readonly MemberRecord[] =>
  members.filter(({ phase, weight }) => phase === 'active' && weight > 0)

const zonesOf = (members: readonly MemberRecord[]): number => new Set(members.map(({ zone }) => zone)).size
