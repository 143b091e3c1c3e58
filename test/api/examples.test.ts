/**
 * The documents against a linter of OpenAPI, and their examples against running servers: each example is executed, each
 * answer is valid by a validator of its own and has the members that the document shows.
 *
 * `--rewrite` writes the answers.
 */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Validator } from '@seriousme/openapi-schema-validator'
import t from 'tap'
import { ANSWERS } from '../../src/api/examples/generated/answers.ts'
import { openApiText } from '../../src/api/server/openapi-documents.ts'
import { ApiWorld } from './api-world.ts'
import { OPERATIONS } from '../helpers/operations.ts'
import { TWO_DISKS } from '../helpers/disk-samples.ts'
import { foundThree } from '../helpers/membership-samples.ts'
import {
  askOf,
  documentOf,
  EXAMPLE_IDS,
  exampleOf,
  isAdmin,
  operationOf,
  PREPARED,
  STORY,
  takes,
} from './example-story.ts'
import { recorded, sourceOf } from './recorded-answers.ts'
import type { NodeReport } from '../../cluster/index.ts'
import { writeSelfReport } from '../../src/operations/doctor/self-report.ts'

const GENERATED = fileURLToPath(new URL('../../src/api/examples/generated/answers.ts', import.meta.url))

const EXAMINED: readonly NodeReport[] = [
  {
    nodeId: 'n1',
    bytes: writeSelfReport({
      findings: [
        {
          check: 'peer_tls',
          severity: 'warning',
          found: 'peer_tls.cert (/etc/holdfast/n1.pem) expires in 12 days, at 2026-12-03T12:00:00Z',
          expected: 'at least 30 days',
          action: 'Issue it again under the same path (deploy/runbooks/rotate-certificates.md).',
        },
      ],
      notChecked: ['disk_speed'],
      certificates: [
        {
          setting: 'peer_tls.cert',
          validFrom: Date.parse('2025-12-03T12:00:00Z'),
          validTo: Date.parse('2026-12-03T12:00:00Z'),
          term: 'endsSoon',
        },
      ],
    }),
    why: null,
  },
  { nodeId: 'n2', bytes: null, why: 'unreachable' },
]

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
  for (const id of EXAMPLE_IDS) {
    const { parameters = [], requestBody } = operationOf(id)
    const { params = {}, query = {}, headers = {}, body } = exampleOf(id)
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
  for (const { id } of OPERATIONS) {
    const document = documentOf(id)
    const { path, method, parameters = [], requestBody, responses } = operationOf(id)
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
  t.same([...new Set(STORY)].sort(), [...EXAMPLE_IDS].sort(), 'the story contains every example')
  const world = await ApiWorld.start(t, { publicUrl: 'https://storage.example.com' })
  await foundThree(world.memory)
  world.memory.repairs = TWO_DISKS
  world.memory.doctors = EXAMINED
  await world.memory.change(PREPARED)
  const [masterKey] = world.memory.services.masterKeys.keys
  await world.memory.change({ type: 'setClusterKey', masterKeyFingerprint: masterKey?.fingerprint ?? '' })
  const owner = await world.memory.adminToken('owner')
  const answers: Record<string, unknown> = {}
  let token: string | undefined
  for (const id of STORY) {
    const operation = operationOf(id)
    const bearer = takes(operation, 'bearer') ? { token: isAdmin(id) ? owner : (token ?? '') } : {}
    const answer = await world.call({ ...askOf(id, answers), ...bearer })
    const { status, headers, bytes, json } = answer
    const summary = `${id}: ${status} ${bytes.toString().slice(0, 400)}`
    t.ok(status < 300, summary)
    t.equal(
      documentOf(id).faultOf(operation, { status, contentType: headers['content-type'], bytes }),
      null,
      summary,
    )
    answers[id] = Object.keys(json).length === 0 ? bytes.toString() : json
    if (id === 'createToken') token = String(json['token'])
  }
  const reported = recorded(answers)
  if (process.argv.includes('--rewrite')) writeFileSync(GENERATED, sourceOf(reported))
  else t.same(shapeOf(reported), shapeOf(ANSWERS), 'the answers shown are current (--rewrite writes them)')
})

/** Members and types, without values. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (typeof value !== 'object' || value === null) return value === null ? null : typeof value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shapeOf(item)]))
}
