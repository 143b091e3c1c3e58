/**
 * The policy of a browser form: what its signer allows others to upload. [AWS S3 API reference: Creating a POST Policy]
 *
 * Owns: reading and evaluating it. Knows nothing of: who signed it; pure, time is passed in. Rules: each field of the form is covered by a condition, but for those that can only
 * narrow what is stored; names of fields and of operators are case-insensitive, those of the members of the document are not.
 */
import { firstNameFault } from '../../json-names.ts'
import { FormFault } from './form-fault.ts'

/** A policy fits in the fields of a form, so it has no more. */
const NAMES_MAX = 1000
const SHOWN_MAX = 80
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/
/** ISO 8601 as S3 takes it. */
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?Z$/
const UNCOVERED =
  /^(file|policy|x-amz-signature|content-md5|x-ignore-.*|x-amz-checksum-(crc32|crc32c|crc64nvme|sha1|sha256)|x-amz-sdk-checksum-algorithm)$/

type Condition =
  | { readonly kind: 'eq' | 'starts-with'; readonly field: string; readonly value: string }
  | { readonly kind: 'size'; readonly min: number; readonly max: number }

export interface PostPolicy {
  /** Milliseconds since 1970. */
  readonly endsAt: number
  readonly conditions: readonly Condition[]
}

/** Of the file, in bytes. */
export interface SizeRange {
  readonly min: number
  /** Infinity: the policy says nothing. */
  readonly max: number
}

/** `base64`: the field `policy`. Throws FormFault InvalidPolicyDocument. */
export function readPostPolicy(base64: string): PostPolicy {
  const { expiration, conditions } = parsed(base64)
  if (typeof expiration !== 'string' || !INSTANT.test(expiration))
    throw invalid('"expiration" is no time such as 2026-11-26T12:00:00.000Z')
  const endsAt = Date.parse(expiration)
  if (Number.isNaN(endsAt)) throw invalid('"expiration" is no time of the calendar')
  if (!Array.isArray(conditions)) throw invalid('it has no list "conditions"')
  return { endsAt, conditions: conditions.flatMap(conditionsOf) }
}

function parsed(base64: string): Readonly<Record<string, unknown>> {
  if (!BASE64.test(base64)) throw invalid('it is not base64')
  const text = Buffer.from(base64, 'base64').toString()
  const fault = firstNameFault(text, { schema: null, namesMax: NAMES_MAX })
  if (fault !== null) throw invalid('it has a name twice in one object, or too many')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw invalid('it is not JSON', { cause })
  }
  if (isObject(value)) return value
  throw invalid('it is no object')
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function conditionsOf(item: unknown): readonly Condition[] {
  if (Array.isArray(item)) return [listed(item)]
  if (!isObject(item) || Object.keys(item).length === 0)
    throw invalid('a condition is neither a list nor a pair')
  return Object.entries(item).map(([field, value]) => {
    if (typeof value !== 'string') throw invalid(`the value of "${field.slice(0, SHOWN_MAX)}" is no text`)
    return { kind: 'eq', field: field.toLowerCase(), value }
  })
}

function listed(item: readonly unknown[]): Condition {
  const [operator, one, other] = item
  if (typeof operator !== 'string' || item.length !== 3) throw invalid('a condition has not three members')
  const kind = operator.toLowerCase()
  if (kind === 'content-length-range') {
    const [min, max] = [sizeOf(one), sizeOf(other)]
    if (min > max) throw invalid('a content-length-range has its bounds in the wrong order')
    return { kind: 'size', min, max }
  }
  if (kind !== 'eq' && kind !== 'starts-with')
    throw invalid(`"${operator.slice(0, SHOWN_MAX)}" is none of eq, starts-with, content-length-range`)
  if (typeof one !== 'string' || !one.startsWith('$') || typeof other !== 'string')
    throw invalid(`a condition ${kind} names no field such as "$key" and a text`)
  return { kind, field: one.slice(1).toLowerCase(), value: other }
}

/** Some signers write the number as a text. */
function sizeOf(value: unknown): number {
  const size = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
  if (typeof size === 'number' && Number.isSafeInteger(size) && size >= 0) return size
  throw invalid('a bound of content-length-range is no whole number from 0 on')
}

/** `fields`: lower-case name -> text, with `bucket`. Throws FormFault AccessDenied. */
export function checkPostPolicy(
  { conditions, endsAt }: PostPolicy,
  fields: ReadonlyMap<string, string>,
  nowMs: number,
): SizeRange {
  if (nowMs >= endsAt) throw denied(`it expired at ${new Date(endsAt).toISOString()}`)
  const covered = new Set<string>()
  let [min, max] = [0, Number.POSITIVE_INFINITY]
  for (const condition of conditions) {
    if (condition.kind === 'size') {
      min = Math.max(min, condition.min)
      max = Math.min(max, condition.max)
      continue
    }
    const { field, kind, value } = condition
    if (!isMet(condition, fields.get(field)))
      throw denied(
        `the condition ["${kind}", "$${field.slice(0, SHOWN_MAX)}", "${value.slice(0, SHOWN_MAX)}"] is not met`,
      )
    covered.add(field)
  }
  for (const name of fields.keys())
    if (!covered.has(name) && !UNCOVERED.test(name))
      throw denied(`it has no condition for the field "${name.slice(0, SHOWN_MAX)}"`)
  return { min, max }
}

/** A value with commas is a list of content types. Each has to begin so. */
function isMet(
  { field, kind, value }: Exclude<Condition, { kind: 'size' }>,
  sent: string | undefined,
): boolean {
  if (sent === undefined) return false
  if (kind === 'eq') return sent === value
  if (field !== 'content-type') return sent.startsWith(value)
  return sent.split(',').every((one) => one.trimStart().startsWith(value))
}

function invalid(why: string, options: ErrorOptions = {}): FormFault {
  return new FormFault('InvalidPolicyDocument', `The policy of the form cannot be read: ${why}`, options)
}

function denied(why: string): FormFault {
  return new FormFault('AccessDenied', `The form is not allowed by its policy: ${why}`)
}
