/**
 * Writes the types, routes and methods of packages/client from the committed contract documents: `node scripts/pages/client-types.ts`.
 *
 * Owns: the text of packages/client/src/generated/. Rule: it reads only the documents, so the types contain what any other client can know.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { clientMethodsText, type MethodFacts, methodRoute, type Parameter } from './client-methods.ts'
import { memberText, type Schema, typeText } from './schema-types.ts'

const ROOT = join(import.meta.dirname, '..', '..')

export const CLIENT_PLANES = ['data', 'admin'] as const
export type ClientPlane = (typeof CLIENT_PLANES)[number]

type Content = Readonly<Record<string, { readonly schema: Schema }>>

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly security: readonly object[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required?: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

const FOLDER = join(ROOT, 'packages', 'client', 'src', 'generated')

/** The files of a plane and their texts. */
export function clientFiles(plane: ClientPlane): readonly { readonly file: string; readonly text: string }[] {
  const file = join(ROOT, 'docs', 'openapi', `${plane}.json`)
  const document = JSON.parse(readFileSync(file, 'utf8')) as Document
  // The shape of a problem is the same for every operation, and errors are classes.
  const { Problem: _, ...records } = document.components.schemas
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item)
      // Browsers send a preflight by themselves.
      .filter(([method]) => method !== 'options')
      .map(([method, operation]): Placed => {
        const facts = methodFacts(document, method.toUpperCase(), operation)
        return { path, method: method.toUpperCase(), operation, facts }
      }),
  )
  const methods = operations.map(({ facts }) => facts)
  return [
    { file: join(FOLDER, `${plane}-operations.ts`), text: operationsText(plane, operations, records) },
    {
      file: join(FOLDER, `${plane}-methods.ts`),
      text: clientMethodsText(plane, methods, Object.keys(records)),
    },
  ]
}

interface Placed {
  readonly path: string
  readonly method: string
  readonly operation: Operation
  readonly facts: MethodFacts
}

function operationsText(
  plane: ClientPlane,
  operations: readonly Placed[],
  records: Readonly<Record<string, Schema>>,
): string {
  const Plane = plane === 'data' ? 'Data' : 'Admin'
  const operationTexts = operations.map(({ operation }) => operationText(operation)).join('\n')
  const used = ['Body', 'Download'].filter((name) => new RegExp(`: ${name}\\b`).test(operationTexts))
  return [
    '/**',
    ` * The operations of the ${plane} plane as docs/openapi/${plane}.json has them. Made by \`node scripts/pages/client-types.ts\`.`,
    ' */',
    ...(operationTexts.includes('<ServerEvent')
      ? ["import type { ServerEvent } from '../call/event-stream.ts'"]
      : []),
    `import type { ${[...used, 'Route'].join(', ')} } from '../call/operation.ts'`,
    '',
    ...Object.entries(records).map(([name, schema]) => `export type ${name} = ${typeText(schema)}\n`),
    `export interface ${Plane}Operations {`,
    operationTexts,
    '}',
    '',
    `export const ${Plane.toUpperCase()}_ROUTES: Readonly<Record<keyof ${Plane}Operations, Route>> = {`,
    ...operations.map(routeText),
    '}',
    '',
  ].join('\n')
}

function methodFacts({ components }: Document, method: string, operation: Operation): MethodFacts {
  const { operationId, summary, parameters = [], requestBody } = operation
  const resolved = (schema: Schema = {}): Schema =>
    schema.$ref === undefined ? schema : (components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {})
  return {
    operationId,
    summary,
    parameters,
    method,
    body: bodyKind(operation),
    isBodyRequired: requestBody?.required === true,
    bodySchema: resolved(requestBody?.content['application/json']?.schema),
    answerSchema: resolved(successes(operation)[0]?.schema),
    answer: answerKind(operation),
  }
}

function operationText(operation: Operation): string {
  const call = [
    groupText('params', operation, 'path'),
    groupText('query', operation, 'query'),
    groupText('headers', operation, 'header'),
    bodyText(operation),
  ].filter((part) => part !== '')
  return [
    `  /** ${operation.summary} */`,
    `  readonly ${operation.operationId}: {`,
    `    readonly call: ${call.length === 0 ? 'object' : `{ ${call.join('; ')} }`}`,
    `    readonly answer: ${answerText(operation)}`,
    '  }',
  ].join('\n')
}

function groupText(group: string, { parameters = [], requestBody }: Operation, place: string): string {
  const named = parameters.filter((parameter) => parameter.in === place)
  const members = named.map(({ name, schema, required = false, description }) => {
    const described = description === undefined ? schema : { description, ...schema }
    if (name.endsWith('*')) return `readonly [name: \`${name.slice(0, -1)}\${string}\`]: string`
    return memberText(name, described, required)
  })
  // OpenAPI describes Content-Type only with the body.
  if (place === 'header' && requestBody?.content['*/*'] !== undefined)
    members.unshift('readonly "Content-Type"?: string')
  if (members.length === 0) return ''
  const isRequired = named.some(({ required }) => required === true)
  return `readonly ${group}${isRequired ? '' : '?'}: { ${members.join('; ')} }`
}

function bodyText({ requestBody }: Operation): string {
  if (requestBody === undefined) return ''
  const json = requestBody.content['application/json']
  const type = json === undefined ? 'Body' : typeText(json.schema)
  return `readonly body${requestBody.required === true ? '' : '?'}: ${type}`
}

function answerText(operation: Operation): string {
  const contents = successes(operation)
  const kind = answerKind(operation)
  if (kind === 'bytes') return 'Download'
  if (kind === 'text') return 'string'
  if (kind === 'events') return 'AsyncGenerator<ServerEvent, void, undefined>'
  if (kind === 'empty') return 'undefined'
  const type = typeText({ anyOf: contents.map(({ schema }) => schema) })
  const isSometimesEmpty = Object.entries(operation.responses).some(
    ([status, { content }]) => status.startsWith('2') && content === undefined,
  )
  return isSometimesEmpty ? `${type} | undefined` : type
}

function routeText({ path, method, operation, facts: ofMethod }: Placed): string {
  const { operationId, security, parameters = [] } = operation
  const rest = parameters.find((parameter) => parameter['x-rest-of-path'] === true)?.name ?? null
  // A token is sent only to operations that take one.
  const takesToken = security.some((way) => 'bearer' in way)
  const facts = { method, path, rest, body: bodyKind(operation), answer: answerKind(operation), takesToken }
  return `  ${operationId}: ${JSON.stringify({ ...facts, ...methodRoute(ofMethod) })},`
}

function bodyKind({ requestBody }: Operation): 'none' | 'json' | 'bytes' {
  if (requestBody === undefined) return 'none'
  return 'application/json' in requestBody.content ? 'json' : 'bytes'
}

function answerKind(operation: Operation): 'json' | 'bytes' | 'text' | 'events' | 'empty' {
  const types = successes(operation).map(({ type }) => type)
  if (types.length === 0) return 'empty'
  if (types.includes('application/json')) return 'json'
  if (types.includes('text/event-stream')) return 'events'
  return types.includes('*/*') ? 'bytes' : 'text'
}

function successes({ responses }: Operation): readonly { readonly type: string; readonly schema: Schema }[] {
  return Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, { content = {} }]) =>
      Object.entries(content).map(([type, { schema }]) => ({ type, schema })),
    )
}

if (import.meta.main)
  for (const plane of CLIENT_PLANES)
    for (const { file, text } of clientFiles(plane)) writeFileSync(file, text)
