/**
 * Checks queries and JSON bodies against the schemas of a route, and words what is wrong. [decisions 0]
 *
 * Owns: the reading of query texts as integers and booleans, and the sentences. Rules: nothing is coerced in a body,
 * nothing unknown is dropped; an unknown name is refused together with the one that was probably meant.
 */
import type { TObject, TSchema } from 'typebox'
import { nearestName } from '../config/nearest.ts'
import { Refusal, type RefusalCode } from '../base/refusal.ts'
import { faultPlace, validatorOf } from './fault-place.ts'

type Check = (value: unknown) => void

/** Members whose absence has a code of its own. */
const CODE_OF_MISSING: Readonly<Record<string, RefusalCode>> = {
  reason: 'reason_required',
  confirm: 'confirm_mismatch',
}

/** For the body of a request. Throws Refusal invalid_request, or the code of the member that is missing. */
export function bodyCheck(schema: TObject): Check {
  return (value) => {
    if (validatorOf(schema).Check(value)) return
    const fault = firstFault(schema, value)
    const code = CODE_OF_MISSING[fault.missing ?? ''] ?? 'invalid_request'
    throw new Refusal(code, `The body is not accepted: ${fault.sentence}`)
  }
}

/** Reads the texts of a query by the schema. Throws Refusal invalid_argument. */
export function queryReader(schema: TObject): (texts: Readonly<Record<string, string>>) => unknown {
  const types = schema.properties
  return (texts) => {
    const values = Object.fromEntries(
      Object.entries(texts).map(([name, text]) => [name, typed(types[name], text)]),
    )
    if (validatorOf(schema).Check(values)) return values
    throw new Refusal('invalid_argument', `The query is not accepted: ${firstFault(schema, values).sentence}`)
  }
}

/** A text that does not read as its type stays a text, and the validator says so. */
function typed(schema: TSchema | undefined, text: string): unknown {
  const type = schema !== undefined && 'type' in schema ? schema.type : undefined
  if (type === 'integer' && /^-?\d{1,40}$/.test(text)) return clamped(Number(text))
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

/** What is larger than any bound stays so. */
function clamped(value: number): number {
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(value, Number.MAX_SAFE_INTEGER))
}

interface Fault {
  readonly sentence: string
  readonly missing?: string
}

function firstFault(schema: TObject, given: unknown): Fault {
  const fault = faultPlace(schema, given)
  if (fault.kind === 'unknown') return { sentence: unknownNameAt(schema, fault.pointer, fault.name) }
  if (fault.kind === 'missing') {
    const name = `${inside(fault.pointer)}${fault.name}`
    return { sentence: `"${name}" is missing`, missing: name }
  }
  // The last error of a value is the one about the whole of it; those before state why each branch of a union failed.
  const error = validatorOf(fault.schema).Errors(fault.value).at(-1)
  const where = `${fault.pointer}${error?.instancePath ?? ''}`.slice(1).replaceAll('/', '.')
  const what = error?.keyword === 'anyOf' ? `must be one of ${choices(fault.schema)}` : error?.message
  return { sentence: where === '' ? `it ${what}` : `"${where}" ${what}` }
}

/** The sentence about a name that the object at this place of the value does not have. `pointer`: as in RFC 6901. */
export function unknownNameAt(schema: object, pointer: string, name: string): string {
  return unknownName(name, namesAt(schema, pointer), inside(pointer))
}

/** "/rules/0" as "rules.0." */
function inside(instancePath: string): string {
  return instancePath === '' ? '' : `${instancePath.slice(1).replaceAll('/', '.')}.`
}

/** Which names an object at this place of the value may have. */
function namesAt(schema: object, instancePath: string): readonly string[] {
  let at: unknown = schema
  for (const step of instancePath.split('/').slice(1)) {
    const { items, properties } = at as { items?: unknown; properties?: Readonly<Record<string, unknown>> }
    at = items ?? properties?.[step] ?? {}
  }
  return Object.keys((at as { properties?: object }).properties ?? {})
}

function unknownName(name: string, known: readonly string[], within: string): string {
  const shown = `"${within}${name.slice(0, 80)}" is unknown`
  const meant = nearestName(name, known)
  if (meant !== undefined) return `${shown}; did you mean "${meant}"?`
  return known.length === 0 ? `${shown}, none is taken here` : `${shown}, known are ${known.join(', ')}`
}

function choices(schema: TSchema): string {
  const branches = 'anyOf' in schema && Array.isArray(schema.anyOf) ? schema.anyOf : []
  return branches
    .map((branch: { const?: unknown; type?: unknown }) => JSON.stringify(branch.const ?? branch.type))
    .join(', ')
}
