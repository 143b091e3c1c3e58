/**
 * The reference of both planes as pages, from their OpenAPI documents: an overview, one page for each tag, one for the schemas of a plane.
 *
 * Knows nothing of: routes. Rule: what the documents say is what is shown; nothing is added by hand.
 */
import { code, escaped, type PageContent, PageWriter, table } from './html.ts'
import { type LinkToSchema, type Schema, schemaRows, typeText } from './schema-rows.ts'

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema?: Schema
}

interface Content {
  readonly schema?: Schema
  readonly example?: unknown
}

interface Answer {
  readonly $ref?: string
  readonly description?: string
  readonly headers?: Readonly<Record<string, { readonly description?: string }>>
  readonly content?: Readonly<Record<string, Content>>
}

interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly security?: readonly Readonly<Record<string, unknown>>[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required?: boolean; readonly content: Readonly<Record<string, Content>> }
  readonly responses: Readonly<Record<string, Answer>>
}

export interface ApiDocument {
  readonly info: { readonly title: string; readonly description: string; readonly version: string }
  readonly tags: readonly { readonly name: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly responses: Readonly<Record<string, Answer>>
    readonly securitySchemes: Readonly<Record<string, { readonly description?: string }>>
  }
}

export interface ApiPlane {
  readonly name: 'data' | 'admin'
  readonly document: ApiDocument
}

interface Found {
  readonly method: string
  readonly path: string
  readonly operation: Operation
}

const FOLDER = 'api'

/** Path in the site -> page. */
export function apiPages(planes: readonly ApiPlane[]): ReadonlyMap<string, PageContent> {
  const pages = new Map<string, PageContent>()
  pages.set(`${FOLDER}/index.html`, overview(planes))
  for (const plane of planes) {
    for (const { name } of plane.document.tags)
      pages.set(`${FOLDER}/${tagFile(plane, name)}`, tagPage(plane, name))
    pages.set(`${FOLDER}/${schemasFile(plane)}`, schemasPage(plane))
  }
  return pages
}

const tagFile = ({ name }: ApiPlane, tag: string): string => `${name}-${tag}.html`
const schemasFile = ({ name }: ApiPlane): string => `${name}-schemas.html`
const linkIn = (plane: ApiPlane): LinkToSchema => {
  const file = schemasFile(plane)
  return (name) => `<a href="${file}#${escaped(name.toLowerCase())}">${escaped(name)}</a>`
}

function operationsOf({ document }: ApiPlane, tag: string): readonly Found[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.tags.includes(tag))
      .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
}

function overview(planes: readonly ApiPlane[]): PageContent {
  const writer = new PageWriter('API reference')
  for (const plane of planes) {
    const { info, tags } = plane.document
    writer.heading(2, info.title)
    writer.add(`<p>${escaped(info.description)}</p>`, info.description)
    const file = `../openapi/${plane.name}.json`
    writer.add(
      `<p>The document itself: <a href="${file}">${plane.name}.json</a> (OpenAPI 3.1), also printed by ${code(`holdfast openapi ${plane.name}`)}. <a href="${schemasFile(plane)}">Its schemas</a>.</p>`,
    )
    for (const { name } of tags) {
      writer.heading(3, `${plane.name === 'data' ? 'Data' : 'Admin'}: ${name}`)
      const rows = operationsOf(plane, name).map(({ method, path, operation }) => [
        `<a href="${tagFile(plane, name)}#${operation.operationId.toLowerCase()}">${escaped(operation.operationId)}</a>`,
        code(`${method} ${path}`),
        escaped(operation.summary),
      ])
      writer.add(table(['operation', 'request', 'what it does'], rows))
    }
  }
  return writer.content()
}

function tagPage(plane: ApiPlane, tag: string): PageContent {
  const writer = new PageWriter(`${plane.name === 'data' ? 'Data' : 'Admin'} API: ${tag}`)
  for (const found of operationsOf(plane, tag)) writeOperation(writer, plane, found)
  return writer.content()
}

function writeOperation(writer: PageWriter, plane: ApiPlane, { method, path, operation }: Found): void {
  const { operationId, summary, description = '', security = [], parameters = [], requestBody } = operation
  writer.heading(2, operationId)
  writer.add(`<p class="request">${code(`${method} ${path}`)}</p>`, `${method} ${path}`)
  writer.add(`<p>${escaped(summary)}.</p>`, summary)
  if (description !== '') writer.add(`<p>${escaped(description)}</p>`, description)
  writer.add(`<p>${credentialsText(plane, security)}</p>`)
  const link = linkIn(plane)
  if (parameters.length > 0)
    writer.add(
      table(
        ['parameter', 'in', 'type', 'meaning'],
        parameters.map((one) => [
          `${code(one.name)}${one.required === true ? ' <span class="required">required</span>' : ''}`,
          escaped(one.in),
          one.schema === undefined ? '' : typeText(one.schema, link),
          escaped(one.description ?? one.schema?.description ?? ''),
        ]),
      ),
      parameters.map(({ name }) => name).join(' '),
    )
  for (const [type, content] of Object.entries(requestBody?.content ?? {})) {
    const need = requestBody?.required === true ? ', required' : ''
    writer.add(`<h3>Body: ${code(type)}${need}</h3>`)
    writer.add(contentHtml(content, link), memberNames(content))
  }
  writer.add('<h3>Answers</h3>')
  for (const [status, answer] of Object.entries(operation.responses))
    writer.add(answerHtml(plane, status, answer), answerText(plane, answer))
}

function credentialsText({ document }: ApiPlane, security: NonNullable<Operation['security']>): string {
  const names = security.flatMap((one) => Object.keys(one))
  if (names.length === 0) return 'It takes no credential.'
  const known = document.components.securitySchemes
  const said = names.map((name) => `${code(name)} (${escaped(known[name]?.description ?? '')})`)
  return `Credential: ${said.join(' or ')}.`
}

const resolved = ({ document }: ApiPlane, { $ref, ...own }: Answer): Answer =>
  $ref === undefined ? own : (document.components.responses[$ref.slice($ref.lastIndexOf('/') + 1)] ?? own)

/** An error is a line, with its codes; what a success brings is shown whole. */
function answerHtml(plane: ApiPlane, status: string, answer: Answer): string {
  const { description = '', content = {}, headers = {} } = resolved(plane, answer)
  if (answer.$ref !== undefined || Number(status) >= 400) {
    const codes = description.split(', ').map((name) => `<a href="../errors.html">${code(name)}</a>`)
    const isCodes = /^[a-z_]+(, [a-z_]+)*$/.test(description)
    return `<p class="answer"><b>${escaped(status)}</b> ${isCodes ? codes.join(' ') : escaped(description)}</p>`
  }
  const names = Object.entries(headers).map(([name, { description: what = '' }]) => [
    code(name),
    escaped(what),
  ])
  const link = linkIn(plane)
  const bodies = Object.entries(content).map(([type, one]) => `<p>${code(type)}</p>${contentHtml(one, link)}`)
  const shown = [...(names.length === 0 ? [] : [table(['header', 'meaning'], names)]), ...bodies].join('\n')
  return `<div class="answer"><p><b>${escaped(status)}</b> ${escaped(description)}</p>${shown}</div>`
}

function answerText(plane: ApiPlane, answer: Answer): string {
  if (answer.$ref !== undefined) return ''
  const { content = {}, headers = {} } = resolved(plane, answer)
  return [...Object.keys(headers), ...Object.values(content).map(memberNames)].join(' ')
}

const memberNames = ({ schema }: Content): string =>
  schema === undefined
    ? ''
    : schemaRows(schema, String)
        .map(({ name }) => name)
        .join(' ')

function contentHtml({ schema, example }: Content, link: LinkToSchema): string {
  const shown =
    example === undefined
      ? ''
      : `<details><summary>Example</summary><pre><code>${escaped(JSON.stringify(example, null, 2))}</code></pre></details>`
  return `${schema === undefined ? '' : schemaHtml(schema, link)}${shown}`
}

function schemaHtml(schema: Schema, link: LinkToSchema): string {
  const rows = schemaRows(schema, link)
  const isPlain = rows.length === 0 || schema.$ref !== undefined || schema.anyOf !== undefined
  const type = isPlain ? `<p>${typeText(schema, link)}</p>` : ''
  if (rows.length === 0) return type
  const cells = rows.map(({ name, isRequired, type: kind, description }) => [
    `${code(name)}${isRequired ? '' : ' <span class="optional">optional</span>'}`,
    kind,
    escaped(description),
  ])
  return `${type}${table(['member', 'type', 'meaning'], cells)}`
}

function schemasPage(plane: ApiPlane): PageContent {
  const writer = new PageWriter(`${plane.name === 'data' ? 'Data' : 'Admin'} API: schemas`)
  const link = linkIn(plane)
  for (const [name, schema] of Object.entries(plane.document.components.schemas)) {
    writer.heading(2, name)
    if (schema.description !== undefined)
      writer.add(`<p>${escaped(schema.description)}</p>`, schema.description)
    writer.add(schemaHtml(schema, link), memberNames({ schema }))
  }
  return writer.content()
}
