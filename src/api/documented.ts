/**
 * What a document says of a value beyond what the edge checks: the operation checks it, with a code and a sentence of its own.
 *
 * Rule: each fact is one that the server refuses to violate; the tests send its violation. The validator does not know of it.
 */
import type { TSchemaOptions } from 'typebox'

/** Options of a schema. `facts`: keywords of JSON Schema. */
export const documented = (facts: TSchemaOptions): TSchemaOptions => ({ documented: facts })

/** The schema as documents show it. */
export function asDocumented(schema: object): object {
  if (!('documented' in schema)) return schema
  const { documented: facts, ...rest } = schema
  return typeof facts === 'object' && facts !== null ? { ...rest, ...facts } : schema
}
