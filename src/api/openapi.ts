/**
 * Writes the OpenAPI 3.1 document of a plane from its routes. The schemas are JSON Schema already, so they are put in as they are.
 *
 * Rule: the document is a function of the routes alone, so the served one, the committed one and the server cannot differ.
 */
import type { TObject, TSchema } from 'typebox'
import Type from 'typebox'
import { methodsOf, pathsOf, type Plane } from './plane.ts'
import { STATUS_OF } from './problem.ts'
import type { AuthKind, HeaderNote, RouteDefinition } from './route.ts'

export type OpenApiDocument = Readonly<Record<string, unknown>>

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

const SECURITY: Readonly<Record<AuthKind, readonly object[]>> = {
  none: [],
  credentials: [{ basic: [] }, {}],
  bearer: [{ bearer: [] }],
  signedUrl: [{ signedUrl: [] }],
  admin: [{ bearer: [] }],
  metrics: [{ bearer: [] }, {}],
}

export function describe(
  plane: Plane,
  about: { readonly title: string; readonly description: string },
): OpenApiDocument {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of plane.routes) {
    for (const path of pathsOf(plane, route)) {
      // One operation id names one operation, so the second mount of a route is said in words.
      if (path !== pathsOf(plane, route)[0]) continue
      const item = (paths[path.replace('...}', '}')] ??= {})
      item[route.method.toLowerCase()] = operation(plane, route)
    }
  }
  return {
    openapi: '3.1.0',
    info: { ...about, version: '1.0.0', license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: '/' }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        basic: { type: 'http', scheme: 'basic' },
        signedUrl: { type: 'apiKey', in: 'query', name: 'token' },
      },
      schemas: { Problem },
    },
  }
}

function operation(plane: Plane, route: RouteDefinition): object {
  const description = [route.description, alsoSaid(plane, route)]
    .filter((part) => part !== undefined)
    .join(' ')
  const parameters = [
    ...pathParameters(route.path),
    ...queryParameters(route.query),
    ...headerParameters(route.requestHeaders ?? []),
  ]
  return {
    operationId: route.operationId,
    summary: route.summary,
    ...(description === '' ? {} : { description }),
    security: SECURITY[route.auth],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...requestBody(route),
    responses: responses(route),
  }
}

function alsoSaid(plane: Plane, route: RouteDefinition): string | undefined {
  const [, second] = pathsOf(plane, route)
  const head = methodsOf(plane, route).length > 1 ? 'Answers HEAD too.' : undefined
  const parts = [second === undefined ? undefined : `Also served at ${second}.`, head]
  const said = parts.filter((part) => part !== undefined)
  return said.length === 0 ? undefined : said.join(' ')
}

function pathParameters(path: string): object[] {
  return [...path.matchAll(/\{(\w+)(\.\.\.)?\}/g)].map(([, name, rest]) => ({
    name,
    in: 'path',
    required: true,
    schema: Type.String(),
    ...(rest === undefined
      ? {}
      : { description: 'The rest of the path; may contain slashes', allowReserved: true }),
  }))
}

function queryParameters(query: TObject | undefined): object[] {
  return Object.entries<TSchema>(query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    schema,
  }))
}

function headerParameters(notes: readonly HeaderNote[]): object[] {
  return notes.map(({ name, description }) => ({ name, in: 'header', description, schema: Type.String() }))
}

function requestBody({ body }: RouteDefinition): object {
  switch (body.kind) {
    case 'none':
      return {}
    case 'json':
      return {
        requestBody: { required: body.required, content: { 'application/json': { schema: body.schema } } },
      }
    case 'bytes': {
      const schema = { type: 'string', format: 'binary' }
      return { requestBody: { required: true, content: { '*/*': { schema } } } }
    }
  }
}

function responses(route: RouteDefinition): object {
  const { success, responseHeaders = [], otherStatuses = {} } = route
  const headers = Object.fromEntries(
    [...responseHeaders, { name: 'X-Request-Id', description: 'Correlates the answer with the log' }].map(
      ({ name, description }) => [name, { description, schema: Type.String() }],
    ),
  )
  const content =
    success.content === undefined
      ? {}
      : { content: { [success.content.type]: { schema: success.content.schema } } }
  const problem = { schema: { $ref: '#/components/schemas/Problem' } }
  return {
    [success.status]: { description: success.description, headers, ...content },
    ...Object.fromEntries(
      Object.entries(otherStatuses).map(([status, other]) => [status, otherResponse(other)]),
    ),
    default: { description: 'A problem', content: { 'application/problem+json': problem } },
  }
}

function otherResponse(other: NonNullable<RouteDefinition['otherStatuses']>[number]): object {
  if (typeof other === 'string') return { description: other }
  return { description: other.description, content: { 'application/json': { schema: other.schema } } }
}
