/**
 * The recipe of CONTRIBUTING for a route: an operation and a route, made by the public constructors, and nothing else. The edge
 * authorizes it, the document describes it, the rights matrix has its cells.
 */
import type { AddressInfo } from 'node:net'
import t from 'tap'
import Type from 'typebox'
import { S3_ACTIONS } from '../../src/access/policies/s3-actions.ts'
import { accessKey } from '../../src/access/rights.ts'
import { createHttpServer } from '../../src/api/http-server.ts'
import { dataPlane } from '../../src/api/native/routes.ts'
import { describe } from '../../src/api/openapi.ts'
import type { Plane } from '../../src/api/plane.ts'
import { problemCodes } from '../../src/api/problem-codes.ts'
import { NO_METER } from '../../src/api/request-log.ts'
import { dataRoute } from '../../src/api/route.ts'
import { dataOperation } from '../../src/operations/base/operation.ts'
import { bucketTarget } from '../../src/operations/base/targets.ts'
import { findBucket } from '../../src/operations/buckets/find-bucket.ts'
import { ApiWorld, type Ask } from '../api/api-world.ts'
import { CredentialForms } from '../api/credential-forms.ts'

/** The first file. */
const getBucketAge = dataOperation(
  {
    id: 'getBucketAge',
    requires: accessKey('read', 'bucket'),
    s3Action: S3_ACTIONS.headBucket,
    refuses: ['invalid_bucket_state'],
    target: bucketTarget,
  },
  async (services, principal, input: { readonly bucket: string }): Promise<{ readonly ageMs: number }> => {
    const { createdAt } = findBucket(services, principal.tenantId, input.bucket)
    return { ageMs: services.cluster.time.now() - createdAt }
  },
)

/** The second file. */
const bucketAgeRoute = dataRoute(
  getBucketAge,
  {
    method: 'GET',
    path: '/buckets/{bucket}/age',
    summary: 'Get the age of a bucket',
    success: {
      status: 200,
      description: 'The age',
      content: { type: 'application/json', schema: Type.Object({ ageMs: Type.Integer() }) },
    },
    example: { params: { bucket: 'photos' } },
  },
  async (services, principal, { params }) => ({
    kind: 'json',
    body: await getBucketAge(services, principal, params),
  }),
)

const plane: Plane = { ...dataPlane, routes: [...dataPlane.routes, bucketAgeRoute] }
const PATH = '/api/v1/buckets/photos/age'

/** Asks a server of its own, which has the route. */
async function serverOf(t: { teardown(handler: () => Promise<void>): void }, world: ApiWorld) {
  const server = createHttpServer(world.memory.services, plane, NO_METER)
  t.teardown(async () => server.close())
  await server.listen({ host: '127.0.0.1', port: 0 })
  const { port } = server.server.address() as AddressInfo
  return async ({ path, headers = {} }: Ask) => {
    const { authorization } = headers
    const given = authorization === undefined ? {} : { authorization: String(authorization) }
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: given })
    return { status: answer.status, json: (await answer.json()) as Record<string, unknown> }
  }
}

t.test('an operation and a route are a whole route', async (t) => {
  const world = await ApiWorld.start(t)
  const { memory } = world
  const forms = await CredentialForms.make(memory)
  await memory.change({
    type: 'createBucket',
    tenantId: 'acme',
    name: 'photos',
    bucketsMax: 10,
    versioning: 'Unversioned',
    objectLockEnabled: false,
  })
  await forms.deny()
  const ask = await serverOf(t, world)

  t.test('that the narrowest right opens', async (t) => {
    const bearer = await memory.bearer('acme', 'op=read:bucket=photos:prefix=x/')
    const answer = await ask({ path: PATH, headers: { authorization: `Bearer ${bearer}` } })
    t.equal(answer.status, 200)
    t.type(answer.json['ageMs'], 'number')
  })

  t.test('that every credential without the right is refused by', async (t) => {
    const cells = forms.cellsOf(getBucketAge.id, getBucketAge.requires, true)
    t.ok(cells.length >= 20, `${cells.length} cells of the rights matrix`)
    t.ok(cells.some(({ form }) => form === 'a key that a policy denies'))
    for (const { form, as, status, code } of cells) {
      const answer = await ask(as({ path: PATH }))
      t.match(answer, { status, json: { code } }, form)
    }
  })

  t.test('that leaves its row in the audit log', async (t) => {
    const rows = memory.auditRows.filter(({ operation }) => operation === 'getBucketAge')
    t.ok(rows.some(({ status, bucket }) => status === 200 && bucket === 'photos'))
    t.ok(rows.some(({ code }) => code === 'access_denied'))
  })

  t.test('that the document describes', async (t) => {
    const { paths } = describe(plane, { title: 't', description: 'd', schemas: {} }) as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, unknown>>>>>>
    }
    const described = paths['/api/v1/buckets/{bucket}/age']?.['get']
    t.match(described, {
      operationId: 'getBucketAge',
      tags: ['buckets'],
      security: [{ bearer: [] }],
      parameters: [{ name: 'bucket', in: 'path', example: 'photos' }],
    })
    const statuses = Object.keys((described?.['responses'] ?? {}) as object)
    for (const status of ['200', '401', '403', '404', '409']) t.ok(statuses.includes(status), status)
    const codes = problemCodes(bucketAgeRoute)
    for (const code of ['invalid_bucket_state', 'access_denied', 'not_found'] as const)
      t.ok(codes.includes(code), code)
  })
})
