/**
 * The routes of tenants: parse the call, run one operation, dress the outcome. No rules here. [decisions 11]
 */
import Type, { type Static } from 'typebox'
import { createTenant } from '../../operations/tenants/create-tenant.ts'
import { getTenant } from '../../operations/tenants/get-tenant.ts'
import { listTenants } from '../../operations/tenants/list-tenants.ts'
import type { TenantRecord } from '../../state-machine/records.ts'
import { adminRoute } from '../route.ts'
import { orNull, PAGE_END_SCHEMA, pageEnd, Time, timeText, timeTextOrNull } from '../wire.ts'
import { DRY_RUN, PageQuery, refuseDryRun } from './queries.ts'

export const TenantView = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    status: Type.Enum(['active', 'disabled']),
    createdAt: Time,
    disabledAt: orNull(Time),
    disabledReason: orNull(Type.String()),
    deletedAt: orNull(Time),
  },
  { additionalProperties: false },
)

const NewTenant = Type.Object(
  {
    id: Type.Optional(
      Type.String({ description: 'Slug of 2 to 63 of a-z, 0-9 and "-"; made from the name if absent' }),
    ),
    name: Type.String({ minLength: 1, maxLength: 256 }),
  },
  { additionalProperties: false },
)

const TenantPage = Type.Object({ tenants: Type.Array(TenantView), ...PAGE_END_SCHEMA })

export const tenantRoutes = {
  listTenants: adminRoute(
    {
      operationId: 'listTenants',
      method: 'GET',
      path: '/tenants',
      summary: 'List tenants; a token with a tenant of its own sees that one',
      query: PageQuery,
      success: {
        status: 200,
        description: 'One page of tenants',
        content: { type: 'application/json', schema: TenantPage },
      },
    },
    async (services, principal, { query: { limit, continuationToken } }) => {
      const page = await listTenants(services, principal, { limit, continuationToken })
      return {
        kind: 'json',
        body: { tenants: page.tenants.map(tenantView), ...pageEnd(page.nextContinuationToken) },
      }
    },
  ),

  createTenant: adminRoute(
    {
      operationId: 'createTenant',
      method: 'POST',
      path: '/tenants',
      summary: 'Create a tenant',
      query: DRY_RUN,
      body: { schema: NewTenant },
      responseHeaders: [{ name: 'Location', description: 'Path of the tenant' }],
      success: {
        status: 201,
        description: 'The tenant',
        content: { type: 'application/json', schema: TenantView },
      },
    },
    async (services, principal, { query, body }) => {
      refuseDryRun(query)
      const tenant = await createTenant(services, principal, body)
      return {
        kind: 'json',
        headers: { location: `/admin/api/v1/tenants/${tenant.id}` },
        body: tenantView(tenant),
      }
    },
  ),

  getTenant: adminRoute(
    {
      operationId: 'getTenant',
      method: 'GET',
      path: '/tenants/{id}',
      summary: 'Get a tenant',
      success: {
        status: 200,
        description: 'The tenant',
        content: { type: 'application/json', schema: TenantView },
      },
    },
    async (services, principal, { params }) => ({
      kind: 'json',
      body: tenantView(await getTenant(services, principal, params)),
    }),
  ),
}

/** Names every member: the sealed keys of the record stay inside. */
function tenantView(tenant: TenantRecord): Static<typeof TenantView> {
  return {
    id: tenant.id,
    name: tenant.name,
    status: tenant.status,
    createdAt: timeText(tenant.createdAt),
    disabledAt: timeTextOrNull(tenant.disabledAt),
    disabledReason: tenant.disabledReason,
    deletedAt: null,
  }
}
