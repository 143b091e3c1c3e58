/**
 * In place of the schema compilers of fastify, which it otherwise loads at every start: 85 modules, for schemas that no route gives it.
 *
 * Owns: the refusal of such a schema. Knows nothing of: the checks of requests, which are in validate.ts.
 */
export const NO_COMPILERS = { buildValidator: refuseSchema, buildSerializer: refuseSchema }

/** Fastify calls it at the start, for the first schema of a route. */
function refuseSchema(): never {
  throw new Error(
    'a route gives fastify a schema, which is not checked here: state it in the definition of the operation',
  )
}
