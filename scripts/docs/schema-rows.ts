/**
 * A JSON Schema of the contract documents as rows of a table: one for each member, however deep, named by its path.
 *
 * Rule: a member of a schema that is referred to is not repeated; its row links to the schema.
 */
import { code, escaped } from './html.ts'

export interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly format?: string
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly default?: unknown
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean | Schema
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
}

export interface SchemaRow {
  readonly name: string
  readonly isRequired: boolean
  /** HTML. */
  readonly type: string
  readonly description: string
}

/** HTML of a link to a schema with a name. */
export type LinkToSchema = (name: string) => string

const DEPTH_MAX = 8

export function schemaRows(schema: Schema, link: LinkToSchema): readonly SchemaRow[] {
  return membersOf(schema, '', { link, depth: 0 })
}

interface Place {
  readonly link: LinkToSchema
  readonly depth: number
}

function membersOf(schema: Schema, above: string, place: Place): readonly SchemaRow[] {
  if (place.depth > DEPTH_MAX) return []
  const deeper = { ...place, depth: place.depth + 1 }
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const path = above === '' ? name : `${above}.${name}`
    const isRequired = schema.required?.includes(name) === true
    const { description = '' } = member
    return [
      { name: path, isRequired, type: typeText(member, place.link), description },
      ...membersOf(member, path, deeper),
    ]
  })
  const others = freeMembers(schema).flatMap((member) => {
    const path = `${above === '' ? '' : `${above}.`}…`
    const { description = '' } = member
    return [
      { name: path, isRequired: false, type: typeText(member, place.link), description },
      ...membersOf(member, path, deeper),
    ]
  })
  const items = schema.items === undefined ? [] : membersOf(schema.items, `${above}[]`, deeper)
  const forms = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]
  return [...own, ...others, ...items, ...forms.flatMap((form) => membersOf(form, above, deeper))]
}

/** Members whose names the schema leaves open. */
function freeMembers({ additionalProperties, patternProperties = {} }: Schema): readonly Schema[] {
  const further = typeof additionalProperties === 'object' ? [additionalProperties] : []
  return [...further, ...Object.values(patternProperties)]
}

/** What a value is, in one line of HTML. */
export function typeText(schema: Schema, link: LinkToSchema): string {
  const { $ref, items } = schema
  if ($ref !== undefined) return link($ref.slice($ref.lastIndexOf('/') + 1))
  if (schema.const !== undefined) return code(JSON.stringify(schema.const))
  if (schema.enum !== undefined) return schema.enum.map((value) => code(JSON.stringify(value))).join(', ')
  const forms = schema.anyOf ?? schema.oneOf
  if (forms !== undefined) return [...new Set(forms.map((form) => typeText(form, link)))].join(' or ')
  if (schema.allOf !== undefined) return schema.allOf.map((form) => typeText(form, link)).join(', with ')
  if (items !== undefined) return `array of ${typeText(items, link)}${boundsOf(schema)}`
  return `${escaped(schema.type ?? (schema.properties === undefined ? 'any' : 'object'))}${boundsOf(schema)}`
}

function boundsOf(schema: Schema): string {
  const { format, pattern, default: usual } = schema
  const spans = [
    spanText(schema.minimum, schema.maximum, ''),
    spanText(schema.minLength, schema.maxLength, ' characters'),
    spanText(schema.minItems, schema.maxItems, ' items'),
  ].filter((text) => text !== '')
  const parts = [
    ...(format === undefined ? [] : [escaped(format)]),
    ...spans,
    ...(pattern === undefined ? [] : [`like ${code(pattern)}`]),
    ...(usual === undefined ? [] : [`default ${code(JSON.stringify(usual))}`]),
  ]
  return parts.length === 0 ? '' : `, ${parts.join(', ')}`
}

function spanText(least: number | undefined, most: number | undefined, unit: string): string {
  if (least !== undefined && most !== undefined) return `${least} to ${most}${unit}`
  if (most !== undefined) return `at most ${most}${unit}`
  return least === undefined ? '' : `at least ${least}${unit}`
}
