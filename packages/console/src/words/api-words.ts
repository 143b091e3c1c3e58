/**
 * An OpenAPI document as what a reference page shows: operations, their parameters, bodies and answers as lines, and a call of each. Pure.
 */
import { curlLine } from './curl.ts'

export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly description?: string
  readonly format?: string
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly minimum?: number
  readonly maximum?: number
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema?: Schema
  readonly example?: string | number | boolean
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema; readonly example?: unknown }>>
}

interface Described extends Content {
  readonly operationId: string
  readonly tags?: readonly string[]
  readonly summary?: string
  readonly description?: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: Content
  readonly responses?: Readonly<
    Record<string, Content & { readonly description?: string; readonly $ref?: string }>
  >
}

export interface ApiDocument {
  readonly info: { readonly title: string; readonly version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> }
}

export interface ApiOperation {
  readonly method: string
  readonly path: string
  readonly described: Described
}

const METHODS = ['get', 'head', 'put', 'post', 'delete', 'patch', 'options']

export const operationsOf = ({ paths }: ApiDocument): readonly ApiOperation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => METHODS.includes(method))
      .map(([method, described]) => ({ method: method.toUpperCase(), path, described })),
  )

/** Every word of `words` is somewhere in it. */
export function fits({ method, path, described }: ApiOperation, words: string): boolean {
  const { operationId, summary = '' } = described
  const text = `${method} ${path} ${operationId} ${summary}`.toLowerCase()
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

export interface SchemaLine {
  /** 0 for members of the body itself. */
  readonly depth: number
  readonly name: string
  readonly type: string
  readonly isRequired: boolean
  readonly about: string
}

const DEPTH_MAX = 6
const VALUES_MAX = 12

/** The members of a schema, those inside of others below them; references are followed, to a depth. */
export function linesOf(document: ApiDocument, schema: Schema, depth = 0): readonly SchemaLine[] {
  const shown = membersOf(document, schema)
  if (depth === DEPTH_MAX) return []
  const { properties = {}, required = [] } = shown
  return Object.entries(properties).flatMap(([name, member]) => [
    {
      depth,
      name,
      type: typeOf(document, member),
      isRequired: required.includes(name),
      about: member.description ?? '',
    },
    ...linesOf(document, member, depth + 1),
  ])
}

/** What has the members: the referred to, the items of a list, the first choice that has some. */
function membersOf(document: ApiDocument, schema: Schema): Schema {
  const target = resolved(document, schema)
  if (target.properties !== undefined) return target
  if (target.items !== undefined) return membersOf(document, target.items)
  const inner = target.anyOf?.map((one) => membersOf(document, one))
  return inner?.find(({ properties }) => properties !== undefined) ?? target
}

function resolved(document: ApiDocument, schema: Schema): Schema {
  const name = schema.$ref?.split('/').at(-1)
  return name === undefined ? schema : (document.components?.schemas?.[name] ?? {})
}

export function typeOf(document: ApiDocument, schema: Schema): string {
  const target = resolved(document, schema)
  if (target.const !== undefined) return JSON.stringify(target.const)
  if (target.enum !== undefined)
    return target.enum
      .slice(0, VALUES_MAX)
      .map((one) => JSON.stringify(one))
      .join(' | ')
  if (target.anyOf !== undefined)
    return [...new Set(target.anyOf.map((one) => typeOf(document, one)))].join(' | ')
  if (target.items !== undefined) return `${typeOf(document, target.items)}[]`
  const plain = [target.type ?? 'object'].flat().join(' | ')
  return target.format === undefined ? plain : `${plain} (${target.format})`
}

/** Where a body has JSON or bytes, the schema of the first kind. */
export const contentOf = ({ content = {} }: Content) => Object.values(content)[0]

/** The request of the example, for a shell. `root`: the address of the listener. */
export function exampleOf({ method, path, described }: ApiOperation, root: string): string {
  const { parameters = [], requestBody } = described
  const shown = (one: Parameter): string => String(one.example ?? one.name)
  const filled = parameters
    .filter((one) => one.in === 'path')
    .reduce((text, one) => text.replace(`{${one.name}}`, encodeURIComponent(shown(one))), path)
  const query = parameters
    .filter((one) => one.in === 'query' && one.required === true)
    .map((one) => `${one.name}=${encodeURIComponent(shown(one))}`)
  return curlLine({
    method,
    url: `${root}${filled}${query.length === 0 ? '' : `?${query.join('&')}`}`,
    body: bodyOf(requestBody),
  })
}

const ANY_TYPE = '*/*'

/** The example of the first kind of body; one that is a text is sent as it is. */
function bodyOf({ content = {} }: Content = {}) {
  const [type, { example } = {}] = Object.entries(content)[0] ?? []
  if (type === undefined || example === undefined) return null
  return {
    type: type === ANY_TYPE ? 'application/octet-stream' : type,
    text: typeof example === 'string' ? example : JSON.stringify(example),
  }
}
