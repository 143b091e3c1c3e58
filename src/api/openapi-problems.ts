/**
 * The refusals of a route in its document: one response for each status, which names the codes that may come with it.
 *
 * Rule: routes that answer the same codes with a status share one response; its name is the status and the codes.
 */
import Type from 'typebox'
import { type ProblemCode, STATUS_OF } from './problem.ts'
import { problemCodes } from './problem-codes.ts'
import { RATE_HEADER_NOTES } from './rate-headers.ts'
import type { RouteDefinition } from './route.ts'

const SCHEMA = { $ref: '#/components/schemas/Problem' }
const HEADERS: Readonly<Record<number, readonly (readonly [name: string, description: string])[]>> = {
  401: [['WWW-Authenticate', 'What to prove who one is with']],
  405: [['Allow', 'The methods that this path takes']],
  416: [['Content-Range', 'The size of the object, as in "bytes */5"']],
  429: [
    ['Retry-After', 'Seconds'],
    ...RATE_HEADER_NOTES.map(({ name, description }) => [name, description] as const),
  ],
  503: [['Retry-After', 'Seconds']],
}

/** By status. */
export function problemResponses(route: RouteDefinition): Readonly<Record<string, object>> {
  const named = [...codesByStatus(route)].map(([status, codes]) => {
    // HEAD has no body to say it in.
    if (route.method === 'HEAD') return [status, bodilessResponse(status, codes)]
    return [status, { $ref: `#/components/responses/${nameOf(status, codes)}` }]
  })
  return Object.fromEntries(named)
}

/** What the references of these routes lead to. */
export function responsesUsed(routes: readonly RouteDefinition[]): Readonly<Record<string, object>> {
  const used = routes
    .filter(({ method }) => method !== 'HEAD')
    .flatMap((route) => [...codesByStatus(route)])
    .map(([status, codes]) => [nameOf(status, codes), problemResponse(status, codes)] as const)
  return Object.fromEntries(used.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function codesByStatus(route: RouteDefinition): ReadonlyMap<number, readonly ProblemCode[]> {
  const byStatus = new Map<number, ProblemCode[]>()
  for (const code of problemCodes(route)) {
    const status = STATUS_OF[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  return byStatus
}

const nameOf = (status: number, codes: readonly ProblemCode[]): string => [status, ...codes].join('.')

function problemResponse(status: number, codes: readonly ProblemCode[]): object {
  const schema = { allOf: [SCHEMA, { properties: { code: { enum: codes } } }] }
  return { ...bodilessResponse(status, codes), content: { 'application/problem+json': { schema } } }
}

function bodilessResponse(status: number, codes: readonly ProblemCode[]): object {
  const named = [...(HEADERS[status] ?? []), ['X-Request-Id', 'The same as requestId in the body'] as const]
  const headers = named.map(([name, description]) => [name, { description, schema: Type.String() }])
  return { description: codes.join(', '), headers: Object.fromEntries(headers) }
}
