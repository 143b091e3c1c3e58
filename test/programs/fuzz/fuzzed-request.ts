/**
 * A request that is nearly right: the example of an operation with a few things wrong, or built from its schema.
 *
 * Owns: what is changed. Knows nothing of: servers. Rule: all of it comes from the document and the seed.
 */
import { type Answers, type Example, filled } from '../../../src/api/examples/example.ts'
import { exampleOf } from '../../api/example-story.ts'
import type { DescribedOperation, Parameter } from '../../helpers/api-document.ts'
import type { Random } from '../simulator/random.ts'
import { AUTHORIZATIONS, HEADER_TEXTS, JSON_TEXTS, JSON_VALUES, TEXTS } from './hostile-values.ts'

export interface FuzzedRequest {
  readonly operation: DescribedOperation
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Null: the valid one of the plane; an empty text: no header. */
  readonly authorization: string | null
  readonly body: Buffer | null
  /** False: it may have become a request of another operation, or of none. */
  readonly isRouted: boolean
}

interface Draft {
  readonly params: Record<string, string>
  readonly query: [name: string, value: string][]
  readonly headers: Record<string, string>
  body: Buffer | null
  method: string
  authorization: string | null
  isRouted: boolean
}

const CHANGES_MAX = 3
const DEPTH_MAX = 5
/** How often a header gets a value of its own kind. */
const FITTING = 0.8
const METHODS = ['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND']
/** Waits that end before they count as a hang. */
const WAITS = ['1ms', '50ms', '0ms', '-1s', '61s', '1h', 'x']
const BODY_BYTES = [0, 1, 700, 2049, 70_000]

export function fuzzedRequest(
  random: Random,
  operation: DescribedOperation,
  answers: Answers,
): FuzzedRequest {
  const example = exampleOf(operation.operationId)
  const draft = draftOf(operation, filled(example, answers))
  for (let n = random.below(CHANGES_MAX + 1); n > 0; n--) random.pick(CHANGES)(draft, { random, operation })
  return finished(operation, draft)
}

/** The example with the values of earlier answers. */
export function exampleRequest(
  operation: DescribedOperation,
  example: Example,
  answers: Answers,
): FuzzedRequest {
  return finished(operation, draftOf(operation, filled(example, answers)))
}

function finished(operation: DescribedOperation, draft: Draft): FuzzedRequest {
  const { params, query, isRouted, ...request } = draft
  const search = query.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&')
  const path = pathOf(operation, params) + (search === '' ? '' : `?${search}`)
  return { ...request, operation, path, isRouted: isRouted && !path.includes('//') }
}

function draftOf(
  operation: DescribedOperation,
  { params = {}, query = {}, headers = {}, body }: Example,
): Draft {
  const isBytes = typeof body === 'string'
  const type: Record<string, string> =
    body === undefined || isBytes ? {} : { 'Content-Type': 'application/json' }
  return {
    params: { ...params },
    query: Object.entries(query),
    headers: { ...type, ...headers },
    body: body === undefined ? null : Buffer.from(isBytes ? body : JSON.stringify(body)),
    method: operation.method,
    authorization: null,
    isRouted: true,
  }
}

interface Chosen {
  readonly random: Random
  readonly operation: DescribedOperation
}
type Change = (draft: Draft, chosen: Chosen) => void

const CHANGES: readonly Change[] = [
  changeParameter,
  changeParameter,
  changeQuery,
  changeQuery,
  changeHeader,
  changeHeader,
  changeHeader,
  changeJson,
  changeJson,
  changeJson,
  replaceBody,
  changeAuthorization,
  changeMethod,
]

function changeParameter(draft: Draft, { random, operation }: Chosen): void {
  const named = parametersOf(operation, 'path')
  if (named.length === 0) return
  const { name, schema } = random.pick(named)
  const value = random.pick(TEXTS)
  draft.params[name] = value
  // A pattern tells routes apart, and an empty segment is another path.
  if ('pattern' in schema || value === '') draft.isRouted = false
}

function changeQuery(draft: Draft, { random, operation }: Chosen): void {
  const named = parametersOf(operation, 'query')
  const name = named.length === 0 || random.chance(0.1) ? random.pick(TEXTS) : random.pick(named).name
  const value = name === 'wait' ? random.pick(WAITS) : random.pick(TEXTS)
  const at = draft.query.findIndex(([given]) => given === name)
  if (at === -1 || random.chance(0.1)) draft.query.push([name, value])
  else if (random.chance(0.2)) draft.query.splice(at, 1)
  else draft.query[at] = [name, value]
}

function changeHeader(draft: Draft, { random, operation }: Chosen): void {
  const named = [
    ...parametersOf(operation, 'header').map(({ name }) => name),
    'Content-Type',
    'X-Service-Odd',
  ]
  const name = random.pick(named).replace('*', random.pick(['a', 'A-b', 'x'.repeat(200), '__proto__']))
  if (random.chance(0.2)) delete draft.headers[name]
  else {
    const fitting = HEADER_TEXTS.filter(([about]) => about.test(name)).map(([, texts]) => texts)
    draft.headers[name] = random.pick(random.chance(FITTING) ? (fitting[0] ?? []) : (fitting.at(-1) ?? []))
  }
}

function changeJson(draft: Draft, { random }: Chosen): void {
  const value = draft.body === null ? {} : parsed(draft.body)
  if (value === null) return
  const places = placesIn(value)
  const { holder, name } = random.pick(places)
  const what = random.below(4)
  if (what === 0) Reflect.deleteProperty(holder, name)
  // Not in a list: a name such as 2147483648 would be an index.
  else if (what === 1 && !Array.isArray(holder))
    Reflect.set(holder, random.pick(TEXTS).slice(0, 80), structuredClone(random.pick(JSON_VALUES)))
  else
    Reflect.set(
      holder,
      name,
      random.chance(0.5) ? structuredClone(random.pick(JSON_VALUES)) : random.pick(TEXTS),
    )
  draft.body = Buffer.from(JSON.stringify(value))
  draft.headers['Content-Type'] ??= 'application/json'
}

function replaceBody(draft: Draft, { random }: Chosen): void {
  if (random.chance(0.3)) {
    draft.body = Buffer.alloc(random.pick(BODY_BYTES), random.below(256))
    return
  }
  draft.body = Buffer.from(random.pick(JSON_TEXTS))
  draft.headers['Content-Type'] = 'application/json'
}

function changeAuthorization(draft: Draft, { random }: Chosen): void {
  draft.authorization = random.pick(AUTHORIZATIONS) ?? ''
}

function changeMethod(draft: Draft, { random }: Chosen): void {
  draft.method = random.pick(METHODS)
  draft.isRouted = false
}

const parametersOf = ({ parameters = [] }: DescribedOperation, place: string): readonly Parameter[] =>
  parameters.filter((parameter) => parameter.in === place)

function parsed(body: Buffer): object | null {
  try {
    const value: unknown = JSON.parse(body.toString())
    return typeof value === 'object' ? value : null
  } catch {
    // Replaced by something that is no JSON.
    return null
  }
}

interface Place {
  readonly holder: object
  readonly name: string
}

/** Every member, down to where the deep ones are left alone; of an empty object one that is not there yet. */
function placesIn(value: object, depth = DEPTH_MAX): readonly Place[] {
  const own = Object.entries(value).flatMap(([name, member]) => [
    { holder: value, name },
    ...(typeof member === 'object' && member !== null && depth > 0 ? placesIn(member, depth - 1) : []),
  ])
  return own.length === 0 ? [{ holder: value, name: 'a' }] : own
}

function pathOf({ path }: DescribedOperation, params: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encoded(params[name] ?? ''))
}

/** Text that is no Unicode, such as half of a surrogate pair, is sent as its bytes. */
function encoded(text: string): string {
  try {
    return encodeURIComponent(text)
  } catch {
    return '%ED%A0%80'
  }
}
