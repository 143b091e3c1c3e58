/**
 * The documents against a linter of OpenAPI, and their examples against running servers: every one is carried out, every
 * answer is valid by a validator of its own and has the members that the document shows.
 *
 * `--rewrite` writes down what was answered.
 */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Validator } from '@seriousme/openapi-schema-validator'
import t from 'tap'
import { ADMIN_OPERATION_IDS, DATA_OPERATION_IDS, type OperationId } from '../../src/access/operation-ids.ts'
import { EXAMPLES } from '../../src/api/examples/examples.ts'
import { ANSWERS } from '../../src/api/examples/generated/answers.ts'
import { openApiText } from '../../src/api/openapi-documents.ts'
import { ApiDocument } from '../helpers/api-document.ts'
import { ApiWorld } from './api-world.ts'
import { askOf, STORY } from './example-story.ts'
import { recorded, sourceOf } from './recorded-answers.ts'

const GENERATED = fileURLToPath(new URL('../../src/api/examples/generated/answers.ts', import.meta.url))
const IDS: readonly OperationId[] = [...DATA_OPERATION_IDS, ...ADMIN_OPERATION_IDS]
const DOCUMENTS = { data: new ApiDocument('data'), admin: new ApiDocument('admin') }
const isAdmin = (id: OperationId): boolean => ADMIN_OPERATION_IDS.some((admin) => admin === id)
const documentOf = (id: OperationId): ApiDocument => DOCUMENTS[isAdmin(id) ? 'admin' : 'data']

t.test('the documents are OpenAPI 3.1', async (t) => {
  for (const name of ['data', 'admin'] as const) {
    const { valid, errors } = await new Validator().validate(
      JSON.parse(openApiText(name)) as Record<string, unknown>,
    )
    t.ok(valid, `${name}: ${JSON.stringify(errors)}`)
  }
  const broken = JSON.parse(openApiText('data')) as Record<string, Record<string, unknown>>
  Object.assign(broken['paths'] ?? {}, { '/x': { get: { responses: { 200: { headers: {} } } } } })
  t.notOk((await new Validator().validate(broken)).valid, 'the linter sees a response without a description')
})

t.test('every part of an example is one that the document names', async (t) => {
  for (const id of IDS) {
    const { parameters = [], requestBody } = documentOf(id).operation(id)
    const { params = {}, query = {}, headers = {}, body } = EXAMPLES[id]
    const named = (place: string) => parameters.filter((one) => one.in === place).map(({ name }) => name)
    t.same(Object.keys(params).sort(), named('path').sort(), `${id} gives each parameter of its path`)
    for (const name of Object.keys(query)) t.ok(named('query').includes(name), `${id} ${name}`)
    for (const name of Object.keys(headers))
      t.ok(name === 'Content-Type' || named('header').includes(name), `${id} ${name}`)
    t.equal(
      body !== undefined,
      requestBody !== undefined && (requestBody.required === true || body !== undefined),
    )
  }
})

t.test('every example of a document is valid by its schema', async (t) => {
  let checked = 0
  for (const id of IDS) {
    const document = documentOf(id)
    const { path, method, parameters = [], requestBody, responses } = document.operation(id)
    const at = ['paths', path, method.toLowerCase()]
    for (const [n, { name, example }] of parameters.entries()) {
      if (example === undefined) continue
      t.equal(document.check([...at, 'parameters', `${n}`, 'schema'], example), null, `${id} ${name}`)
      checked += 1
    }
    const contents = [
      ...Object.entries(requestBody?.content ?? {}).map(([type, of]) => ({
        where: ['requestBody'],
        type,
        of,
      })),
      ...Object.entries(responses).flatMap(([status, { content = {} }]) =>
        Object.entries(content).map(([type, of]) => ({ where: ['responses', status], type, of })),
      ),
    ]
    for (const { where, type, of } of contents) {
      if (of.example === undefined) continue
      t.equal(
        document.check([...at, ...where, 'content', type, 'schema'], of.example),
        null,
        `${id} ${where.join()}`,
      )
      checked += 1
    }
  }
  t.ok(checked > 120, `${checked} examples`)
})

t.test('every example works, and is answered as the document says', async (t) => {
  t.same([...new Set(STORY)].sort(), [...IDS].sort(), 'the story tells every operation')
  const world = await ApiWorld.start(t)
  const owner = await world.memory.adminToken('owner')
  const answers: Record<string, unknown> = {}
  let token: string | undefined
  for (const id of STORY) {
    const document = documentOf(id)
    const operation = document.operation(id)
    const isOpen = operation.security.length === 0 || id === 'createToken'
    const bearer = isOpen ? {} : { token: isAdmin(id) ? owner : (token ?? '') }
    const heard = await world.call({ ...askOf(operation, answers), ...bearer })
    const { status, headers, bytes, json } = heard
    const said = `${id}: ${status} ${bytes.toString().slice(0, 400)}`
    t.ok(status < 300, said)
    t.equal(document.faultOf(operation, { status, contentType: headers['content-type'], bytes }), null, said)
    answers[id] = Object.keys(json).length === 0 ? bytes.toString() : json
    if (id === 'createToken') token = String(json['token'])
  }
  const told = recorded(answers)
  if (process.argv.includes('--rewrite')) writeFileSync(GENERATED, sourceOf(told))
  else t.same(shapeOf(told), shapeOf(ANSWERS), 'the answers shown are current (--rewrite writes them)')
})

/** Members and types, without values. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (typeof value !== 'object' || value === null) return value === null ? null : typeof value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shapeOf(item)]))
}
