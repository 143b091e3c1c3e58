/**
 * Quotas of tenants, on the wire. [decisions 11]
 *
 * Rule: the names are the contract; null is no limit.
 */
import Type, { type Static } from 'typebox'
import { deleteTenantQuota } from '../../operations/tenants/delete-tenant-quota.ts'
import { setTenantQuota } from '../../operations/tenants/set-tenant-quota.ts'
import { getTenantQuota, type TenantQuota } from '../../operations/tenants/tenant-lookups.ts'
import type { QuotaRecord, QuotaReport } from '../../state-machine/usage/records.ts'
import { ACME } from '../examples/names.ts'
import { documented } from '../documented.ts'
import { adminRoute } from '../route.ts'
import { orNull, Time, timeText } from '../wire.ts'
import { changeRoute, removalRoute } from './mutation.ts'
import { quotaReport } from '../../state-machine/usage/quota.ts'

const PATH = '/tenants/{id}/quota'

const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const limit = (description: string) =>
  Type.Union([Count, Type.Null()], { description: `${description}; null: no limit` })

const LIMITS = {
  maxBytes: limit('Plain bytes of all versions and of the parts of unfinished uploads'),
  maxObjects: limit('Objects that a listing shows, over all buckets'),
  maxBuckets: limit('Buckets; limits.buckets_per_tenant holds beside it'),
}
const Limits = Type.Object(LIMITS, { additionalProperties: false })
const Usage = Type.Object({ bytes: Count, objects: Count, buckets: Count }, { additionalProperties: false })

export const QuotaView = Type.Object(
  { tenantId: Type.String(), quota: Limits, usage: Usage, updatedAt: orNull(Time) },
  { additionalProperties: false },
)

const QuotaRequestBody = Type.Object(
  {
    maxBytes: Type.Optional(LIMITS.maxBytes),
    maxObjects: Type.Optional(LIMITS.maxObjects),
    maxBuckets: Type.Optional(LIMITS.maxBuckets),
  },
  { additionalProperties: false, ...documented({ minProperties: 1 }) },
)

export const quotaRoutes = [
  adminRoute(
    getTenantQuota,
    {
      method: 'GET',
      path: PATH,
      summary: 'Get the quota of a tenant, and what is held against it',
      success: {
        status: 200,
        description: 'The quota; all limits null and updatedAt null when none is set',
        content: { type: 'application/json', schema: QuotaView },
      },
      example: { params: ACME },
    },
    async (services, principal, { params }) => {
      return { kind: 'json', body: quotaView(await getTenantQuota(services, principal, params)) }
    },
  ),

  changeRoute(
    setTenantQuota,
    {
      method: 'PUT',
      path: PATH,
      summary: 'Set the quota of a tenant, in place of the one it has',
      description:
        'A limit that is not named is none. Below present use it is allowed: what is stored stays, and writes that add to it are refused with quota_exceeded.',
      body: { schema: QuotaRequestBody },
      answers: 'The quota, or the plan of a dry run',
      view: QuotaView,
      plan: Type.Object({ before: Limits, after: Limits, usage: Usage }),
      example: {
        params: ACME,
        body: { maxBytes: 1_099_511_627_776, maxObjects: null, maxBuckets: 100 },
      },
    },
    {
      run: (services, principal, { params, body }) =>
        setTenantQuota(services, principal, { ...params, ...body }),
      answer: quotaView,
      plan: async ({ state }, { params: { id } }, outcome) => {
        const present = state.cut((view) => quotaReport(view, id))
        const { quota, usage } = outcome ?? present
        const plan = { before: limitsOf(present.quota), after: limitsOf(quota), usage }
        return { plan, warnings: warningsOf({ quota, usage }), tenantId: id }
      },
    },
  ),

  removalRoute(
    deleteTenantQuota,
    {
      method: 'DELETE',
      path: PATH,
      summary: 'Clear the quota of a tenant; repeating it is no error',
      plan: Type.Object({ before: Limits, usage: Usage }),
      example: { params: ACME },
    },
    {
      run: (services, principal, { params }) => deleteTenantQuota(services, principal, params),
      plan: async ({ state }, { params: { id } }) => {
        const { quota, usage } = state.cut((view) => quotaReport(view, id))
        return { plan: { before: limitsOf(quota), usage }, warnings: [], tenantId: id }
      },
    },
  ),
]

function quotaView({ tenantId, quota, usage }: TenantQuota): Static<typeof QuotaView> {
  const updatedAt = quota.updatedAt === 0 ? null : timeText(quota.updatedAt)
  return { tenantId, quota: limitsOf(quota), usage, updatedAt }
}

function limitsOf({ maxBytes, maxObjects, maxBuckets }: QuotaRecord): Static<typeof Limits> {
  return { maxBytes, maxObjects, maxBuckets }
}

function warningsOf({ quota, usage }: QuotaReport): readonly string[] {
  const held = [
    ['bytes', usage.bytes, quota.maxBytes],
    ['objects', usage.objects, quota.maxObjects],
    ['buckets', usage.buckets, quota.maxBuckets],
  ] as const
  return held
    .filter(([, present, max]) => max !== null && present > max)
    .map(
      ([what, present, max]) =>
        `The tenant has ${present} ${what}, more than ${max}: they stay, and no more are taken`,
    )
}
