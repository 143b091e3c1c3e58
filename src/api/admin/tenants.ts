/**
 * The routes of tenants: parse the call, run one operation, dress the outcome. No rules here. [decisions 11]
 */
import Type, { type Static } from 'typebox'
import { createTenant } from '../../operations/tenants/create-tenant.ts'
import { deleteTenant } from '../../operations/tenants/delete-tenant.ts'
import { disableTenant } from '../../operations/tenants/disable-tenant.ts'
import { listTenants } from '../../operations/tenants/list-tenants.ts'
import { planTenantEnd } from '../../operations/tenants/plan-tenant-end.ts'
import { getTenant } from '../../operations/tenants/tenant-lookups.ts'
import type { TenantRecord } from '../../state-machine/tenants/records.ts'
import { ACME, FORMER } from '../examples/names.ts'
import { adminRoute } from '../route.ts'
import { documented } from '../documented.ts'
import { orNull, PAGE_END_SCHEMA, pageEnd, Time, timeText, timeTextOrNull } from '../wire.ts'
import { changeRoute, creationRoute, longOperationRoute } from './mutation.ts'
import { PageQuery, REASON } from './queries.ts'

export const TenantView = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    status: Type.Enum(['active', 'disabled', 'deleting', 'deleted']),
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
      Type.String({
        description: 'Slug of 2 to 63 of a-z, 0-9 and "-"; made from the name if absent',
        ...documented({ pattern: '^[a-z0-9-]{2,63}$' }),
      }),
    ),
    name: Type.String({ minLength: 1, maxLength: 256 }),
  },
  { additionalProperties: false },
)

const Disabling = Type.Object(REASON, { additionalProperties: false })
const Deletion = Type.Object(
  {
    ...REASON,
    confirm: Type.String({ description: 'The id of the tenant once more' }),
  },
  { additionalProperties: false },
)

const Count = Type.Integer({ minimum: 0 })
const TenantEndPlanView = Type.Object({
  buckets: Count,
  objects: Count,
  versions: Type.Integer({ minimum: 0, description: 'The current ones too' }),
  deleteMarkers: Count,
  legalHeldVersions: Count,
  retainedVersions: Type.Integer({ minimum: 0, description: 'Whose retention has not ended' }),
  accessKeys: Type.Integer({ minimum: 0, description: 'Of a disabling those that are active' }),
  physicalBytes: Type.Integer({ minimum: 0, description: 'On the disks of all nodes together' }),
})

const TenantPage = Type.Object({ tenants: Type.Array(TenantView), ...PAGE_END_SCHEMA })

export const tenantRoutes = [
  adminRoute(
    listTenants,
    {
      method: 'GET',
      path: '/tenants',
      summary: 'List tenants; a token with a tenant of its own sees that one',
      query: PageQuery,
      success: {
        status: 200,
        description: 'One page of tenants',
        content: { type: 'application/json', schema: TenantPage },
      },
      example: { query: { limit: '100' } },
    },
    async (services, principal, { query: { limit, continuationToken } }) => {
      const page = await listTenants(services, principal, { limit, continuationToken })
      return {
        kind: 'json',
        body: { tenants: page.tenants.map(tenantView), ...pageEnd(page.nextContinuationToken) },
      }
    },
  ),

  creationRoute(
    createTenant,
    {
      method: 'POST',
      path: '/tenants',
      summary: 'Create a tenant',
      body: { schema: NewTenant },
      answers: 'The tenant',
      view: TenantView,
      plan: Type.Object({
        id: orNull(Type.String({ description: 'Which the tenant would have; null: none would be made' })),
      }),
      furtherExamples: { createLeavingTenant: { body: { ...FORMER, name: 'Former Ltd.' } } },
      example: { body: { id: 'acme', name: 'Acme Inc.' } },
    },
    {
      run: (services, principal, { body }) => createTenant(services, principal, body),
      plan: async (_services, _call, tenant) => ({ plan: { id: tenant?.id ?? null }, warnings: [] }),
      answer: (tenant) => ({ path: `/tenants/${tenant.id}`, body: tenantView(tenant) }),
    },
  ),

  adminRoute(
    getTenant,
    {
      method: 'GET',
      path: '/tenants/{id}',
      summary: 'Get a tenant',
      success: {
        status: 200,
        description: 'The tenant',
        content: { type: 'application/json', schema: TenantView },
      },
      example: { params: ACME },
    },
    async (services, principal, { params }) => ({
      kind: 'json',
      body: tenantView(await getTenant(services, principal, params)),
    }),
  ),

  changeRoute(
    disableTenant,
    {
      method: 'POST',
      path: '/tenants/{id}/disable',
      summary:
        'Disable a tenant and revoke its access keys; there is no way back, repeating it changes nothing',
      body: { schema: Disabling },
      answers: 'The tenant, or the plan of a dry run',
      view: TenantView,
      plan: TenantEndPlanView,
      example: { params: FORMER, body: { reason: 'The contract has ended' } },
    },
    {
      run: (services, principal, { params, body }) =>
        disableTenant(services, principal, { ...params, ...body }),
      plan: (services, { params }) => planTenantEnd(services, params.id, 'disable'),
      answer: tenantView,
    },
  ),

  longOperationRoute(
    deleteTenant,
    {
      method: 'POST',
      path: '/tenants/{id}/delete',
      summary:
        'Delete a disabled tenant with everything it stores, unless a retention or a legal hold stands',
      status: 202,
      body: { schema: Deletion },
      plan: TenantEndPlanView,
      example: { params: FORMER, body: { reason: 'The contract has ended', confirm: 'former' } },
    },
    {
      run: (services, principal, { params, body }) =>
        deleteTenant(services, principal, { ...params, ...body }),
      plan: (services, { params }) => planTenantEnd(services, params.id, 'delete'),
    },
  ),
]

/** Names every member: the sealed keys of the record stay inside. */
function tenantView(tenant: TenantRecord): Static<typeof TenantView> {
  return {
    id: tenant.id,
    name: tenant.name,
    status: tenant.status,
    createdAt: timeText(tenant.createdAt),
    disabledAt: timeTextOrNull(tenant.disabledAt),
    disabledReason: tenant.disabledReason,
    deletedAt: timeTextOrNull(tenant.deletedAt ?? null),
  }
}
