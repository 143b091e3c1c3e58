/**
 * The contract document as public generators of clients can read it.
 *
 * Owns: what stands in their way. Each change makes the document say less, and none makes it say something else, so a client that is
 * generated from it speaks the same contract. `x-rest-of-path` needs none: generators write the slash of a key as %2F, which the service takes.
 */
type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

/** Beside `properties` they say which of them go together. oapi-codegen declares the same Go method for each of two nested ones. */
const COMBINATIONS = ['allOf', 'oneOf', 'dependentRequired']

export function generatorDocument(document: Json): Json {
  if (Array.isArray(document))
    return (document as readonly Json[]).filter((one) => !isStarred(one)).map(generatorDocument)
  if (typeof document !== 'object' || document === null) return document
  const members = Object.entries(document as Record<string, Json>)
  const hasProperties = members.some(([name]) => name === 'properties')
  const isHeader = members.some(([name, value]) => name === 'in' && value === 'header')
  return Object.fromEntries(
    members
      .filter(([name]) => !(hasProperties && COMBINATIONS.includes(name)))
      .map(([name, value]) => {
        // openapi-python-client sends `Content-Type: */*` as it stands, or refuses the operation.
        if (name === '*/*') return ['application/octet-stream', generatorDocument(value)]
        return [name, generatorDocument(isHeader && name === 'schema' ? withoutFormat(value) : value)]
      }),
  )
}

/** `X-Service-Meta-*` stands for many headers; a generator would send the star. */
function isStarred(value: Json): boolean {
  if (typeof value !== 'object' || value === null || !('name' in value)) return false
  const name = value['name']
  return typeof name === 'string' && name.endsWith('*')
}

/** openapi-python-client refuses an operation with a time in a header. */
function withoutFormat(schema: Json): Json {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema
  return Object.fromEntries(Object.entries(schema).filter(([name]) => name !== 'format'))
}
