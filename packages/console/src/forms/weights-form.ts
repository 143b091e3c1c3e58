/**
 * The weights and zones of all members as they are typed, the changes that they ask for, and the order in which those are set.
 *
 * Rule: setting replaces the whole placement of a member, so what was set and stays is set again with what changes.
 */
import type { Membership } from '../../../client/src/admin.ts'
import { TEXT } from '../words/strings.ts'
import { InputError } from './input-error.ts'

const SAYS = TEXT.placement

type Member = Pick<Membership['members'][number], 'nodeId' | 'zone' | 'weight' | 'placement'>

/** By node id; absent: as it is. */
export type Weights = Readonly<Record<string, { readonly weight?: string; readonly zone?: string }>>

interface Place {
  readonly weight?: number
  readonly zone?: string
}

export interface PlaceChange {
  readonly nodeId: string
  /** For a plan, where absent means as it is. */
  readonly planned: Place
  /** For setting, where absent means as in the file of the node. */
  readonly set: Place
  /** By how much the weight rises. */
  readonly rise: number
}

/** As it is typed, or as it is. */
export function typedOf({ nodeId, weight, zone }: Member, typed: Weights) {
  return { weight: String(weight), zone, ...typed[nodeId] }
}

/** Throws InputError. */
export function weightOf(text: string): number | undefined {
  if (text.trim() === '') return undefined
  const weight = Number(text)
  if (!Number.isFinite(weight)) throw new InputError(SAYS.noWeight(text))
  return weight
}

/** Also where a field cannot be sent as it is. */
export function isChanged(member: Member, typed: Weights): boolean {
  const { weight, zone } = typedOf(member, typed)
  return weight.trim() === '' || Number(weight) !== member.weight || zone.trim() !== member.zone
}

/**
 * Those that change, raised weights first: no step leaves fewer members that take copies than the first or the last state has.
 * Throws InputError.
 */
export function changesOf(members: readonly Member[], typed: Weights): readonly PlaceChange[] {
  return members
    .filter((member) => isChanged(member, typed))
    .map((member) => changeOf(member, typedOf(member, typed)))
    .toSorted((one, other) => other.rise - one.rise)
}

function changeOf(member: Member, typed: { readonly weight: string; readonly zone: string }): PlaceChange {
  const { nodeId, placement } = member
  const weight = weightOf(typed.weight)
  const zone = typed.zone.trim()
  if (weight === undefined || (zone === '' && member.zone !== ''))
    throw new InputError(SAYS.incomplete(nodeId))
  const planned = {
    ...(weight === member.weight ? {} : { weight }),
    ...(zone === member.zone ? {} : { zone }),
  }
  const stays = {
    ...(typeof placement?.weight === 'number' ? { weight: placement.weight } : {}),
    ...(typeof placement?.zone === 'string' ? { zone: placement.zone } : {}),
  }
  return { nodeId, planned, set: { ...stays, ...planned }, rise: weight - member.weight }
}

/**
 * Sets those that are not done, one after another, and stops at the first that fails with what it throws. `onSet`: after each.
 * Calling it again with what is done by then continues.
 */
export async function setRest(
  changes: readonly PlaceChange[],
  done: readonly string[],
  { set, onSet }: { set: (change: PlaceChange) => Promise<unknown>; onSet: (nodeId: string) => void },
): Promise<void> {
  for (const change of changes.filter(({ nodeId }) => !done.includes(nodeId))) {
    await set(change)
    onSet(change.nodeId)
  }
}
