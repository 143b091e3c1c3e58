/**
 * GET /session: who the caller is, and which operations it may use; what it names is served, and nothing else.
 */
import t from 'tap'
import { adminPlane } from '../../src/api/admin/routes.ts'
import { ADMIN_ROLES } from '../../src/state-machine/base/origin.ts'
import { ApiWorld, METRICS } from './api-world.ts'

const SESSION = '/admin/api/v1/session'
/** That need no target in their path and no body, so that a right alone decides. */
const PLAIN = adminPlane(METRICS).routes.filter(
  ({ method, path, auth, query }) =>
    method === 'GET' && auth === 'admin' && !path.includes('{') && !needs(query),
)

function needs(query: { readonly required?: readonly string[] } | undefined): boolean {
  return (query?.required ?? []).length > 0
}

t.test('getSession', async (t) => {
  const world = await ApiWorld.start(t)
  await world.memory.tenant('acme')

  for (const role of ADMIN_ROLES)
    for (const tenantId of [null, 'acme'])
      await t.test(
        `says of ${role} of ${tenantId ?? 'all tenants'} who it is, and what it is served [admin.session.get] [admin.session.operations]`,
        async (t) => {
          const token = await world.memory.adminToken(role, tenantId)
          const { status, headers, json } = await world.call({ admin: true, token, path: SESSION })
          t.match(
            { status, headers, json },
            {
              status: 200,
              headers: { 'cache-control': 'no-store' },
              json: { role, tenantId, tokenId: /^adm_/, mayMakeKeys: true },
            },
          )
          const operations = json['operations'] as readonly string[]
          for (const { operation, path, example } of PLAIN) {
            const query = new URLSearchParams(example.query).toString()
            const answer = await world.call({ admin: true, token, path: `/admin/api/v1${path}?${query}` })
            const isNamed = operations.includes(operation.id)
            t.equal(answer.status === 403, !isNamed, `${operation.id}: ${answer.status}`)
          }
        },
      )

  await t.test('is 401 without a token, as every route is', async (t) => {
    t.match(await world.call({ admin: true, path: SESSION }), { status: 401, code: 'unauthorized' })
  })
})
