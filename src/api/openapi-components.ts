/**
 * Schemas with a name in an OpenAPI document: written once under `components`, referred to wherever they stand.
 *
 * Rule: a schema is known by its text, so a route uses one by embedding it and need not know that it has a name.
 */
import Type, { type TSchema } from 'typebox'
import { asDocumented } from './documented.ts'
import { STATUS_OF } from './problem.ts'

export type NamedSchemas = Readonly<Record<string, TSchema>>

const Problem = Type.Object({
  type: Type.String(),
  title: Type.String(),
  status: Type.Integer(),
  code: Type.Enum(Object.keys(STATUS_OF)),
  message: Type.String(),
  detail: Type.String(),
  instance: Type.String(),
  requestId: Type.String(),
})

/** As they stand under `components`; a named one within another is a reference there too. */
export function namedSchemas(schemas: NamedSchemas): Readonly<Record<string, unknown>> {
  const named = Object.entries(schemas).map(([name, schema]) => {
    const { [name]: _, ...others } = schemas
    return [name, withReferences(schema, others)]
  })
  return { Problem, ...Object.fromEntries(named) }
}

/** A copy in which every named schema is a reference. */
export function withReferences(value: unknown, schemas: NamedSchemas): unknown {
  const names = new Map(Object.entries(schemas).map(([name, schema]) => [JSON.stringify(schema), name]))
  return referring(value, names)
}

function referring(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => referring(item, names))
  if (typeof value !== 'object' || value === null) return value
  const name = names.get(JSON.stringify(value))
  if (name !== undefined) return { $ref: `#/components/schemas/${name}` }
  const shown = Object.entries(asDocumented(value))
  return Object.fromEntries(shown.map(([key, item]) => [key, referring(item, names)]))
}
