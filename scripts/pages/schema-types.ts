/**
 * Converts JSON Schema to TypeScript types, as far as the contract documents use it.
 *
 * Rule: an unsupported schema is an error and never silently `unknown`: a wrong type is worse than none. Where the document
 * itself leaves a value open, its type is `unknown`.
 */
export interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean | Schema
  readonly required?: readonly string[]
  readonly description?: string
}

const PLAIN: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
}

export function typeText(schema: Schema): string {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? ''
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.anyOf !== undefined) return unionText(schema)
  if (schema.type === 'array' && schema.items !== undefined) return `readonly (${typeText(schema.items)})[]`
  if (schema.type === 'object') return objectText(schema)
  if (Object.keys(schema).every((name) => name === 'description')) return 'unknown'
  const plain = PLAIN[schema.type ?? '']
  if (plain === undefined) throw new Error(`No type for the schema ${JSON.stringify(schema)}`)
  return plain
}

/** Flattens unions; each member occurs once. */
function unionText(schema: Schema): string {
  const members = (one: Schema): readonly string[] => one.anyOf?.flatMap(members) ?? [typeText(one)]
  return [...new Set(members(schema))].join(' | ')
}

function objectText(schema: Schema): string {
  const { properties = {}, required = [], patternProperties = {}, additionalProperties } = schema
  const members = Object.entries(properties).map(([name, member]) =>
    memberText(name, member, required.includes(name)),
  )
  if (members.length > 0) return `{ ${members.join('; ')} }`
  const [values] = Object.values(patternProperties)
  const others = typeof additionalProperties === 'object' ? additionalProperties : values
  return `Readonly<Record<string, ${others === undefined ? 'unknown' : typeText(others)}>>`
}

export function memberText(name: string, schema: Schema, isRequired: boolean): string {
  const comment = schema.description === undefined ? '' : `/** ${schema.description.replaceAll('*/', '')} */ `
  const key = /^[a-z_]\w*$/i.test(name) ? name : JSON.stringify(name)
  return `${comment}readonly ${key}${isRequired ? '' : '?'}: ${typeText(schema)}`
}
