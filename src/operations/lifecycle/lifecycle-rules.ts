/**
 * What good lifecycle rules are.
 *
 * Owns: the check of a configuration and its sentences; it has one for every way into a bucket's rules. Knows nothing of: when a rule acts.
 * Rule: what contradicts itself, or could never act, is refused with the name of the field, because its author meant something else.
 */
import { UNPRINTABLE } from '../../base/printable.ts'
import { Refusal } from '../../base/refusal.ts'
import { isKeyPart } from '../../state-machine/base/row-key.ts'
import { DAY_MS, hasOnlyPrefix } from '../../state-machine/lifecycle/due.ts'
import {
  LIFECYCLE_DAYS_MAX,
  LIFECYCLE_KEPT_MAX,
  LIFECYCLE_RULES_MAX,
  type LifecycleExpiration,
  type LifecycleFilter,
  type LifecycleRule,
} from '../../state-machine/lifecycle/records.ts'
import { isRealDay, parseTimestamp } from '../base/timestamp.ts'
import { checkTags } from '../base/tags.ts'
import { KEY_BYTES_MAX } from '../objects/object-key.ts'

export const LIFECYCLE_ID_CHARACTERS_MAX = 255

/** As a client gives it: members that are not there are not asked for. */
export interface LifecycleRuleInput {
  readonly id?: string
  readonly status: string
  readonly filter?: {
    readonly prefix?: string
    readonly tags?: readonly (readonly [name: string, value: string])[]
    readonly sizeGreaterThan?: number
    readonly sizeLessThan?: number
  }
  readonly expiration?: {
    readonly days?: number
    readonly date?: string
    readonly expiredObjectDeleteMarker?: boolean
  }
  readonly noncurrentVersionExpiration?: {
    readonly noncurrentDays: number
    readonly newerNoncurrentVersions?: number
  }
  readonly abortIncompleteMultipartUpload?: { readonly daysAfterInitiation: number }
}

/** Throws Refusal invalid_request and invalid_argument that name the field, and invalid_tag. A rule without an id gets one. */
export function checkLifecycleRules(rules: readonly LifecycleRuleInput[]): readonly LifecycleRule[] {
  if (rules.length === 0)
    refuse('rules', 'is empty: give at least one rule, or delete the configuration of the bucket')
  if (rules.length > LIFECYCLE_RULES_MAX)
    refuse('rules', `has ${rules.length} rules: at most ${LIFECYCLE_RULES_MAX} are allowed`)
  const ids = new Set<string>()
  for (const [n, { id }] of rules.entries()) {
    if (id === undefined) continue
    if (id === '' || Array.from(id).length > LIFECYCLE_ID_CHARACTERS_MAX || UNPRINTABLE.test(id))
      refuseValue(
        `rules.${n}.id`,
        `must have 1 to ${LIFECYCLE_ID_CHARACTERS_MAX} characters, and no control characters`,
      )
    if (ids.has(id)) refuseValue(`rules.${n}.id`, `is "${id}" like that of an earlier rule`)
    ids.add(id)
  }
  return rules.map((rule, n) => checkRule({ ...rule, id: rule.id ?? freeId(ids, n) }, `rules.${n}`))
}

/** `rule-1` for the first rule, unless another is called like that. */
function freeId(ids: Set<string>, n: number): string {
  let number = n + 1
  while (ids.has(`rule-${number}`)) number++
  ids.add(`rule-${number}`)
  return `rule-${number}`
}

function checkRule(rule: LifecycleRuleInput & { readonly id: string }, at: string): LifecycleRule {
  const { id, status } = rule
  if (status !== 'Enabled' && status !== 'Disabled')
    refuseValue(`${at}.status`, `is "${status.slice(0, 80)}": give Enabled or Disabled`)
  const filter = checkFilter(rule.filter ?? {}, `${at}.filter`)
  const expiration = checkExpiration(rule.expiration, `${at}.expiration`)
  const noncurrent = checkNoncurrent(rule.noncurrentVersionExpiration, `${at}.noncurrentVersionExpiration`)
  const abortUploadDays = checkAbort(
    rule.abortIncompleteMultipartUpload,
    `${at}.abortIncompleteMultipartUpload`,
  )
  if (expiration === null && noncurrent === null && abortUploadDays === null)
    refuse(at, 'does nothing: give expiration, noncurrentVersionExpiration or abortIncompleteMultipartUpload')
  if (!hasOnlyPrefix(filter)) {
    const what = 'has tags or sizes in its filter'
    if (abortUploadDays !== null)
      refuse(
        at,
        `${what} and aborts uploads, which have neither: give abortIncompleteMultipartUpload in a rule of its own`,
      )
    if (expiration !== null && 'expiredDeleteMarker' in expiration)
      refuse(
        at,
        `${what} and removes delete markers, which have neither: give expiredObjectDeleteMarker in a rule of its own`,
      )
  }
  return { id, isEnabled: status === 'Enabled', filter, expiration, noncurrent, abortUploadDays }
}

function checkFilter(filter: NonNullable<LifecycleRuleInput['filter']>, at: string): LifecycleFilter {
  const { prefix = '', tags: given = [], sizeGreaterThan = null, sizeLessThan = null } = filter
  if (Buffer.byteLength(prefix) > KEY_BYTES_MAX)
    refuseValue(`${at}.prefix`, `has more than ${KEY_BYTES_MAX} bytes, so no key begins with it`)
  if (prefix !== '' && !isKeyPart(prefix))
    refuseValue(`${at}.prefix`, 'contains a NUL or is not valid Unicode, so no key begins with it')
  const tags = checkTags(given)
  for (const [name, size] of [
    ['sizeGreaterThan', sizeGreaterThan],
    ['sizeLessThan', sizeLessThan],
  ] as const)
    if (size !== null && !(Number.isSafeInteger(size) && size >= 0))
      refuseValue(`${at}.${name}`, `is ${size}: give a whole number of bytes of zero or more`)
  if (sizeLessThan !== null && sizeLessThan <= (sizeGreaterThan ?? -1) + 1)
    refuse(
      at,
      `asks for more than ${sizeGreaterThan ?? -1} and less than ${sizeLessThan} bytes: no object has such a size`,
    )
  return { prefix, tags, sizeGreaterThan, sizeLessThan }
}

function checkExpiration(given: LifecycleRuleInput['expiration'], at: string): LifecycleExpiration | null {
  if (given === undefined) return null
  const { days, date, expiredObjectDeleteMarker } = given
  // False asks for nothing.
  const names = [days !== undefined, date !== undefined, expiredObjectDeleteMarker === true].filter(Boolean)
  if (names.length > 1) refuse(at, 'has more than one of days, date and expiredObjectDeleteMarker: give one')
  if (expiredObjectDeleteMarker === true) return { expiredDeleteMarker: true }
  if (days !== undefined) return { days: checkDays(days, `${at}.days`) }
  if (date !== undefined) return { date: checkDate(date, `${at}.date`) }
  if (expiredObjectDeleteMarker === false) return null
  return refuse(at, 'is empty: give days, date or expiredObjectDeleteMarker')
}

function checkNoncurrent(
  given: LifecycleRuleInput['noncurrentVersionExpiration'],
  at: string,
): LifecycleRule['noncurrent'] {
  if (given === undefined) return null
  const { noncurrentDays, newerNoncurrentVersions: newerKept = 0 } = given
  const days = checkDays(noncurrentDays, `${at}.noncurrentDays`)
  if (given.newerNoncurrentVersions !== undefined && !isCount(newerKept, LIFECYCLE_KEPT_MAX))
    refuseValue(
      `${at}.newerNoncurrentVersions`,
      `is ${newerKept}: give a whole number from 1 to ${LIFECYCLE_KEPT_MAX}`,
    )
  return { days, newerKept }
}

function checkAbort(given: LifecycleRuleInput['abortIncompleteMultipartUpload'], at: string): number | null {
  return given === undefined ? null : checkDays(given.daysAfterInitiation, `${at}.daysAfterInitiation`)
}

function checkDays(days: number, at: string): number {
  if (isCount(days, LIFECYCLE_DAYS_MAX)) return days
  return refuseValue(at, `is ${days}: give a whole number from 1 to ${LIFECYCLE_DAYS_MAX}`)
}

const isCount = (count: number, max: number): boolean =>
  Number.isSafeInteger(count) && count >= 1 && count <= max

function checkDate(text: string, at: string): number {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text) && isRealDay(text)
  const time = parseTimestamp(isDay ? `${text}T00:00:00Z` : text)
  if (time === null || time < 0)
    return refuseValue(at, `is "${text.slice(0, 80)}": give a midnight in UTC, such as 2027-01-31T00:00:00Z`)
  if (time % DAY_MS === 0) return time
  return refuseValue(
    at,
    `is "${text.slice(0, 80)}", which is no midnight in UTC: give one, such as 2027-01-31T00:00:00Z`,
  )
}

/** For what contradicts itself, is missing or does nothing. */
function refuse(at: string, fault: string): never {
  throw new Refusal('invalid_request', sentence(at, fault))
}

/** For one value that is not allowed. */
function refuseValue(at: string, fault: string): never {
  throw new Refusal('invalid_argument', sentence(at, fault))
}

const sentence = (at: string, fault: string): string =>
  `The lifecycle rules are not accepted: "${at}" ${fault}`
