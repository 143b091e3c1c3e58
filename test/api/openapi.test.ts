/**
 * The contract: the committed document is the served one, and every operation has exactly one route.
 */
import { readFile } from 'node:fs/promises'
import t from 'tap'
import { openApiText } from '../../src/api/server/openapi-documents.ts'
import { ADMIN_OPERATIONS, DATA_OPERATIONS } from '../helpers/operations.ts'
import { ApiWorld } from './api-world.ts'

interface Operation {
  readonly operationId: string
  readonly security: readonly object[]
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly responses: Record<string, unknown>
}

t.test('documents', async (t) => {
  const world = await ApiWorld.start(t)
  for (const name of ['data', 'admin'] as const) {
    const isAdmin = name === 'admin'
    const path = `${isAdmin ? '/admin/api/v1' : '/api/v1'}/openapi.json`
    const served = await world.call({ path, admin: isAdmin })
    t.equal(served.status, 200, 'without a token')
    const committed = await readFile(new URL(`../../docs/openapi/${name}.json`, import.meta.url), 'utf8')
    t.equal(
      committed,
      openApiText(name),
      `docs/openapi/${name}.json is current (node scripts/pages/openapi.ts)`,
    )
    t.same(served.json, JSON.parse(committed), 'and equals the served one')

    const paths = served.json['paths'] as Record<string, Record<string, Operation>>
    const operations = Object.values(paths).flatMap((item) => Object.values(item))
    const ids = (isAdmin ? ADMIN_OPERATIONS : DATA_OPERATIONS).map(({ id }) => id)
    t.equal(new Set(ids).size, ids.length, 'each id names one operation')
    t.same(operations.map(({ operationId }) => operationId).sort(), ids.sort(), 'every operation id once')
    for (const [template, item] of Object.entries(paths)) {
      const named = [...template.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter)
      for (const { operationId, parameters = [], responses } of Object.values(item)) {
        const inPath = parameters
          .filter((parameter) => parameter.in === 'path')
          .map((parameter) => parameter.name)
        t.same(inPath, named, `${operationId} describes the parameters of its path`)
        for (const status of ['400', '500', '503']) t.ok(status in responses, `${operationId} ${status}`)
      }
    }
  }
})

t.test(
  'every operation but the open ones refuses an unauthenticated request [buckets.anonymous]',
  async (t) => {
    const world = await ApiWorld.start(t)
    const open = [
      'healthz',
      'readyz',
      'getOpenAPI',
      'createToken',
      'adminHealthz',
      'adminReadyz',
      'getAdminOpenAPI',
    ]
    for (const name of ['data', 'admin'] as const) {
      const document = JSON.parse(openApiText(name)) as { paths: Record<string, Record<string, Operation>> }
      for (const [template, item] of Object.entries(document.paths)) {
        for (const [method, { operationId }] of Object.entries(item)) {
          if (open.includes(operationId)) continue
          const path = template.replace(/\{\w+\}/g, 'some')
          const answer = await world.call({ method: method.toUpperCase(), path, admin: name === 'admin' })
          t.equal(answer.status, 401, operationId)
        }
      }
    }
  },
)
