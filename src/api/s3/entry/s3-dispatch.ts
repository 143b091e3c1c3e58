/**
 * Which action of S3 a request is: by method, by what its path names, by parameters of its query and by a header.
 *
 * Owns: the choice. Knows nothing of: callers. Rules: of the routes whose marks are all there, the one with the most is meant; a parameter that the route does
 * not take is refused by its name, because a client that sends it wants something else than it would get.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Method } from '../../route.ts'
import { S3Fault } from '../base/s3-errors.ts'
import type { S3Level, S3Refused, S3Route } from '../base/s3-route.ts'

export interface S3Table {
  readonly routes: readonly S3Route[]
  readonly refused: readonly S3Refused[]
}

export interface S3Question {
  readonly method: string
  readonly level: S3Level
  /** Without the parameters that begin with `x-amz-`. */
  readonly query: Readonly<Record<string, string>>
  readonly headers: IncomingHttpHeaders
}

/** Names of the SDK's own operation, which it adds to some requests. */
const ANYWHERE: ReadonlySet<string> = new Set(['x-id'])
const METHODS: readonly Method[] = ['GET', 'HEAD', 'PUT', 'POST', 'DELETE']

/** What a request of one method at one level may be. */
interface Choices {
  /** Those with the most marks first; among equals in the order of the table. */
  readonly routes: readonly S3Route[]
  readonly refused: readonly S3Refused[]
}

const NO_CHOICES: Choices = { routes: [], refused: [] }
/** By method and level, made when a table is asked first. */
const INDEXES = new WeakMap<S3Table, ReadonlyMap<string, Choices>>()

/** Throws S3Fault NotImplemented, MethodNotAllowed. */
export function findS3Route(table: S3Table, question: S3Question): S3Route {
  const names = namesOf(question)
  const { routes, refused } = indexOf(table).get(placeOf(question)) ?? NO_CHOICES
  refuseByName(refused, names)
  const route = routes.find((candidate) => isMeant(candidate, question))
  if (route === undefined) throw notAllowed(table, question)
  const foreign = names.find((name) => !takes(route, name))
  if (foreign === undefined) return route
  throw new S3Fault(
    'NotImplemented',
    `The parameter "${foreign.slice(0, 80)}" is not supported by ${route.action}; it is refused rather than ignored`,
  )
}

const placeOf = ({ method, level }: { readonly method: string; readonly level: S3Level }): string =>
  `${level} ${method}`

function indexOf(table: S3Table): ReadonlyMap<string, Choices> {
  const known = INDEXES.get(table)
  if (known !== undefined) return known
  const places = new Set([...table.routes, ...table.refused].map(placeOf))
  const index = new Map<string, Choices>()
  for (const place of places) {
    const routes = table.routes.filter((route) => placeOf(route) === place)
    const refused = table.refused.filter((one) => placeOf(one) === place)
    index.set(place, { routes: routes.toSorted((one, other) => weightOf(other) - weightOf(one)), refused })
  }
  INDEXES.set(table, index)
  return index
}

function namesOf({ query }: S3Question): readonly string[] {
  return Object.keys(query).filter((name) => !ANYWHERE.has(name))
}

function refuseByName(refused: readonly S3Refused[], names: readonly string[]): void {
  const found = refused.find(({ marks }) => marks.every((mark) => names.includes(mark)))
  if (found !== undefined)
    throw new S3Fault('NotImplemented', `${found.action} is not supported: ${found.why}`)
}

/** `route`: of the method and level of the question. */
function isMeant(route: S3Route, { query, headers }: S3Question): boolean {
  if (!route.marks.every((mark) => Object.hasOwn(query, mark))) return false
  const { markValue, markHeader } = route
  if (markValue !== undefined && query[markValue.name] !== markValue.value) return false
  return markHeader === undefined || headers[markHeader] !== undefined
}

function weightOf({ marks, markValue, markHeader }: S3Route): number {
  return marks.length + (markValue === undefined ? 0 : 1) + (markHeader === undefined ? 0 : 1)
}

const takes = ({ marks, parameters }: S3Route, name: string): boolean =>
  marks.includes(name) || parameters.includes(name)

/** Other methods that would do something with these parameters. */
function notAllowed(table: S3Table, question: S3Question): S3Fault {
  const index = indexOf(table)
  const isTaken = (method: Method): boolean => {
    const { routes } = index.get(placeOf({ ...question, method })) ?? NO_CHOICES
    return routes.some((route) => isMeant(route, question) && hasAllOf(route, question))
  }
  const methods = METHODS.filter(isTaken)
  return new S3Fault(
    'MethodNotAllowed',
    `${question.method.slice(0, 32)} is not allowed against this resource`,
    { headers: { allow: methods.join(', ') } },
  )
}

const hasAllOf = (route: S3Route, question: S3Question): boolean =>
  namesOf(question).every((name) => takes(route, name))
