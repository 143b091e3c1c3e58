/**
 * Writes the OpenAPI 3.1 document of a plane from its routes. The schemas are JSON Schema already, so they are put in as they are.
 *
 * Rule: the document is a function of the routes and their examples only, so the served one, the committed one and the server
 * cannot differ.
 */
import Type, { type TObject, type TSchema, type TSchemaOptions } from 'typebox'
import { digestPattern, KEPT_ALGORITHMS } from '../content/checksums.ts'
import { BUCKET_NAME } from '../operations/buckets/bucket-name.ts'
import { type Example, filled } from './examples/example.ts'
import { ANSWERS } from './examples/generated/answers.ts'
import { type NamedSchemas, namedSchemas, withReferences } from './openapi-components.ts'
import { problemResponses, responsesUsed } from './openapi-problems.ts'
import { methodsOf, pathsOf, type Plane } from './plane.ts'
import { RATE_HEADER_NOTES } from './rate-headers.ts'
import type { AuthKind, HeaderNote, RouteDefinition } from './route.ts'

export type OpenApiDocument = Readonly<Record<string, unknown>>

const SECURITY: Readonly<Record<AuthKind, readonly object[]>> = {
  none: [],
  credentials: [{ basic: [] }, {}],
  bearer: [{ bearer: [] }],
  signedUrl: [{ signedUrl: [] }],
  admin: [{ bearer: [] }],
  metrics: [{ bearer: [] }, {}],
}

const SECURITY_SCHEMES = {
  native: {
    bearer: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'svctk_',
      description: 'A token of createToken, good for an hour unless configured',
    },
    basic: { type: 'http', scheme: 'basic', description: 'Id and secret of an access key' },
    signedUrl: {
      type: 'apiKey',
      in: 'query',
      name: 'token',
      description: 'The token of a URL that signURL made, as it stands in that URL',
    },
  },
  admin: {
    bearer: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'svcadm_',
      description: 'An admin token, made on the command line of a node',
    },
  },
} as const

interface About {
  readonly title: string
  readonly description: string
  /** Records that several operations speak of, by the name that the document gives them. */
  readonly schemas: NamedSchemas
}

export function describe(plane: Plane, { schemas, ...about }: About): OpenApiDocument {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of plane.routes) {
    // One operation id names one operation, so the second mount of a route is said in words.
    const [path = ''] = pathsOf(plane, route)
    const item = (paths[path.replace('...}', '}')] ??= {})
    item[route.method.toLowerCase()] = withReferences(described(plane, route), schemas)
  }
  return {
    openapi: '3.1.0',
    info: { ...about, version: '1.0.0', license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: '/' }],
    tags: TAGS[plane.api].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: SECURITY_SCHEMES[plane.api],
      schemas: namedSchemas(schemas),
      responses: responsesUsed(plane.routes),
    },
  }
}

const TAGS = {
  native: ['service', 'buckets', 'cors', 'notifications', 'objects', 'multipart', 'signed-urls'],
  admin: ['service', 'tenants', 'policies', 'cluster', 'audit'],
} as const

function described(plane: Plane, route: RouteDefinition): object {
  const description = [route.description, alsoSaid(plane, route)]
    .filter((part) => part !== undefined)
    .join(' ')
  const example = filled(route.example, ANSWERS)
  const parameters = [
    ...pathParameters(route),
    ...queryParameters(route.query),
    ...headerParameters(route.requestHeaders ?? []),
  ].map((parameter) => withExample(parameter, example))
  return {
    operationId: route.operation.id,
    tags: [tagOf(route)],
    summary: route.summary,
    ...(description === '' ? {} : { description }),
    security: SECURITY[route.auth],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...requestBody(route, example),
    responses: { ...responses(route), ...problemResponses(route) },
  }
}

/** The first that fits the path names the tag, so that a route need not say it. */
const TAGGED: readonly (readonly [path: RegExp, tag: string])[] = [
  [/^\/tenants\/.*\/policy$/, 'policies'],
  [/^\/tenants/, 'tenants'],
  [/^\/cluster/, 'cluster'],
  [/^\/audit/, 'audit'],
  [/^\/sign/, 'signed-urls'],
  [/^\/buckets\/\{bucket\}\/multipart/, 'multipart'],
  [/^\/buckets\/\{bucket\}\/(object|versions$)/, 'objects'],
  [/^\/buckets\/\{bucket\}\/cors$/, 'cors'],
  [/^\/buckets\/\{bucket\}\/notifications/, 'notifications'],
  [/^\/buckets/, 'buckets'],
]

const tagOf = ({ path }: RouteDefinition): string => TAGGED.find(([at]) => at.test(path))?.[1] ?? 'service'

function alsoSaid(plane: Plane, route: RouteDefinition): string | undefined {
  const [, second] = pathsOf(plane, route)
  const head = methodsOf(plane, route).length > 1 ? 'Answers HEAD too.' : undefined
  const parts = [second === undefined ? undefined : `Also served at ${second}.`, head]
  const said = parts.filter((part) => part !== undefined)
  return said.length === 0 ? undefined : said.join(' ')
}

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly schema: TSchema
}

function pathParameters({ path, forms = {} }: RouteDefinition): Parameter[] {
  return [...path.matchAll(/\{(\w+)(\.\.\.)?\}/g)].map(([, name = '', rest]) => ({
    name,
    in: 'path',
    required: true,
    ...(rest === undefined ? {} : { description: REST_OF_PATH, 'x-rest-of-path': true }),
    schema: Type.String(formOf(name, forms[name])),
  }))
}

function formOf(name: string, form: RegExp | undefined): TSchemaOptions {
  if (form !== undefined) return { pattern: form.source }
  return PATH_FORMS[name] ?? { minLength: 1 }
}

/** What names nothing else is not found, or refused. */
const PATH_FORMS: Readonly<Record<string, TSchemaOptions>> = {
  bucket: { pattern: BUCKET_NAME },
  partNumber: { pattern: '^([1-9][0-9]{0,3}|10000)$' },
}

const REST_OF_PATH = 'The rest of the path: a slash in it may be sent as it is, or as %2F'

function queryParameters(query: TObject | undefined): Parameter[] {
  return Object.entries<TSchema>(query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: query?.required?.includes(name) ?? false,
    schema,
  }))
}

function headerParameters(notes: readonly HeaderNote[]): Parameter[] {
  return spelledOut(notes).map(({ name, description, required, schema = {} }) => ({
    name,
    in: 'header',
    ...(required === undefined ? {} : { required }),
    description,
    schema: Type.String(schema),
  }))
}

/** Families of headers: the algorithms are known; the names of user metadata are not, and "*" represents any. */
function spelledOut(notes: readonly HeaderNote[]): readonly HeaderNote[] {
  return notes.flatMap((note): readonly HeaderNote[] =>
    note.name.includes('<ALG>')
      ? KEPT_ALGORITHMS.map((algorithm) => ({
          ...note,
          name: note.name.replace('<ALG>', algorithm),
          schema: { pattern: digestPattern(algorithm) },
        }))
      : [{ ...note, name: note.name.replace('<name>', '*') }],
  )
}

function withExample(parameter: Parameter, { params = {}, query = {}, headers = {} }: Example): object {
  const { name, schema } = parameter
  const example = { path: params, query, header: headers }[parameter.in][name]
  if (example === undefined) return parameter
  const isText = !('type' in schema) || schema.type === 'string'
  return { ...parameter, example: isText ? example : (JSON.parse(example) as unknown) }
}

function requestBody({ body }: RouteDefinition, example: Example): object {
  const shown = example.body === undefined ? {} : { example: example.body }
  switch (body.kind) {
    case 'none':
      return {}
    case 'json': {
      const content = { 'application/json': { schema: body.schema, ...shown } }
      return { requestBody: { required: body.required, content } }
    }
    case 'bytes': {
      const schema = { type: 'string', format: 'binary' }
      return { requestBody: { required: true, content: { '*/*': { schema, ...shown } } } }
    }
  }
}

function responses(route: RouteDefinition): object {
  const { success, responseHeaders = [], otherStatuses = {}, operation, example } = route
  const rate = route.auth === 'admin' ? RATE_HEADER_NOTES : []
  const headers = Object.fromEntries(
    [...spelledOut(responseHeaders), ...rate, REQUEST_ID].map(({ name, description }) => [
      name,
      { description, schema: Type.String() },
    ]),
  )
  const answer = Object.hasOwn(ANSWERS, operation.id) ? { example: ANSWERS[operation.id] } : {}
  // The example of what cannot be shown for real is a dry run, which answers 200 regardless of what the route answers otherwise.
  const isDry = example.query?.['dryRun'] === 'true' && success.status !== 200
  const content =
    success.content === undefined
      ? {}
      : { content: { [success.content.type]: { schema: success.content.schema, ...(isDry ? {} : answer) } } }
  const others = Object.entries(otherStatuses).map(([status, other]) => [
    status,
    otherResponse(other, headers, isDry && status === '200' ? answer : {}),
  ])
  return {
    [success.status]: { description: success.description, headers, ...content },
    ...Object.fromEntries(others),
  }
}

const REQUEST_ID: HeaderNote = {
  name: 'X-Request-Id',
  description: 'Names the request in the log of the node and in problems',
}

function otherResponse(
  other: NonNullable<RouteDefinition['otherStatuses']>[number],
  headers: object,
  answer: object,
): object {
  if (typeof other === 'string') return { description: other, headers }
  const { description, schema } = other
  return { description, headers, content: { 'application/json': { schema, ...answer } } }
}
