/**
 * The first fault of a value against a schema, without a walk over what comes behind it.
 *
 * The validator continues through the whole value and states each fault with its path, also those that it then leaves out: 340,000 wrong elements of an array cost as
 * many texts. Here each level is asked for its first member that does not fit, by compiled checks that stop there, and only that one is gone into.
 */
import { Compile, type Validator } from 'typebox/compile'
import type { TSchema } from 'typebox'

/** `pointer`: of the object with or without the name, or of the value that is wrong; as in RFC 6901, with names as they are. */
export type FaultPlace =
  | { readonly kind: 'unknown'; readonly pointer: string; readonly name: string }
  | { readonly kind: 'missing'; readonly pointer: string; readonly name: string }
  | {
      readonly kind: 'wrong'
      readonly pointer: string
      readonly schema: TSchema
      readonly value: unknown
    }

interface Place {
  readonly schema: TSchema
  readonly value: unknown
  readonly pointer: string
}

/** The keywords of JSON Schema that are looked at here. */
interface Keywords {
  readonly items?: TSchema
  readonly maxItems?: number
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: unknown
}

/** By the schemas of the routes and of what is inside them, which are made once. */
const VALIDATORS = new WeakMap<TSchema, Validator>()

/** Compiled when it is first asked for: a node has 150 routes, and a start asks for none. */
export function validatorOf(schema: TSchema): Validator {
  const known = VALIDATORS.get(schema)
  if (known !== undefined) return known
  const made = Compile(schema)
  VALIDATORS.set(schema, made)
  return made
}

/** `schema` does not hold for `value`. */
export function faultPlace(schema: TSchema, value: unknown): FaultPlace {
  let place: Place = { schema, value, pointer: '' }
  for (;;) {
    const inner = Array.isArray(place.value) ? inArray(place, place.value) : inObject(place)
    if (inner === null) return { kind: 'wrong', ...place }
    if ('kind' in inner) return inner
    place = inner
  }
}

function inArray({ schema, pointer }: Place, value: readonly unknown[]): Place | FaultPlace | null {
  const { items, maxItems = Infinity } = schema as Keywords
  // One element too many is as wrong as all of them.
  if (value.length > maxItems) return { kind: 'wrong', schema, pointer, value: value.slice(0, maxItems + 1) }
  if (items === undefined) return null
  const validator = validatorOf(items)
  const at = value.findIndex((element) => !validator.Check(element))
  return at === -1 ? null : { schema: items, value: value[at], pointer: `${pointer}/${at}` }
}

function inObject({ schema, value, pointer }: Place): Place | FaultPlace | null {
  if (typeof value !== 'object' || value === null) return null
  const { properties, required = [], additionalProperties } = schema as Keywords
  if (properties === undefined) return null
  if (additionalProperties === false)
    for (const name in value) if (!Object.hasOwn(properties, name)) return { kind: 'unknown', pointer, name }
  const missing = required.find((name) => !Object.hasOwn(value, name))
  if (missing !== undefined) return { kind: 'missing', pointer, name: missing }
  for (const [name, member] of Object.entries(properties)) {
    if (!Object.hasOwn(value, name)) continue
    const given = (value as Readonly<Record<string, unknown>>)[name]
    if (!validatorOf(member).Check(given))
      return { schema: member, value: given, pointer: `${pointer}/${name}` }
  }
  return null
}
