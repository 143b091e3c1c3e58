/**
 * Reads pieces of a policy's JSON, and words what is wrong with them.
 *
 * Owns: the sentences. Rule: nothing is passed over; a member that is unknown, missing or of another type is named together
 * with the place where it stands.
 */
import { nearestName } from '../../config/nearest.ts'
import { Refusal } from '../../base/refusal.ts'

const SHOWN_CHARS_MAX = 120

/** `where` as `Statement.0.Action`; empty for the whole. */
export function malformed(where: string, what: string): never {
  const place = where === '' ? 'it' : `"${where}"`
  throw new Refusal('invalid_request', `The bucket policy is not accepted: ${place} ${what}`)
}

export const shown = (text: string): string => `"${text.slice(0, SHOWN_CHARS_MAX)}"`

/** What was probably meant, or else all that there is. */
export function hintAt(name: string, known: readonly string[]): string {
  const meant = nearestName(name, known)
  return meant === undefined ? `known are ${known.join(', ')}` : `did you mean "${meant}"?`
}

export type Members = Readonly<Record<string, unknown>>

/** An object with any names. */
export function objectAt(value: unknown, where: string): Members {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members
  return malformed(where, 'must be a JSON object')
}

/** An object of these names and no others. */
export function membersAt(value: unknown, where: string, known: readonly string[]): Members {
  const members = objectAt(value, where)
  for (const name of Object.keys(members)) {
    if (known.includes(name)) continue
    malformed(where, `has the member ${shown(name)}, which is unknown here: ${hintAt(name, known)}`)
  }
  return members
}

export function textAt(value: unknown, where: string): string {
  return typeof value === 'string' ? value : malformed(where, 'must be a text')
}

/** One text, or a list of at least one. */
export function textsAt(value: unknown, where: string): readonly string[] {
  return listAt(value, where).map((item, n) => textAt(item, Array.isArray(value) ? `${where}.${n}` : where))
}

/** One value, or a list of at least one. */
export function listAt(value: unknown, where: string): readonly unknown[] {
  if (!Array.isArray(value)) return [value]
  return value.length > 0 ? value : malformed(where, 'is an empty list: it would match nothing')
}

/** The one that is given of two members that exclude each other. */
export function eitherOf(
  members: Members,
  where: string,
  [plain, negated]: readonly [string, string],
): { readonly isNegated: boolean; readonly value: unknown; readonly where: string } {
  const given = [plain, negated].filter((name) => Object.hasOwn(members, name))
  const [name] = given
  if (name === undefined || given.length > 1)
    return malformed(where, `needs one of "${plain}" and "${negated}"`)
  return { isNegated: name === negated, value: members[name], where: `${where}.${name}` }
}
