/**
 * Quotas of tenants, on the wire. [decisions 11]
 *
 * Rule: the names are the contract; null is no limit.
 */
import Type, { type Static } from 'typebox'
import { deleteTenantQuota } from '../../operations/tenants/delete-tenant-quota.ts'
import { setTenantQuota } from '../../operations/tenants/set-tenant-quota.ts'
import { getTenantQuota, type TenantQuota } from '../../operations/tenants/tenant-lookups.ts'
import type { QuotaReport } from '../../state-machine/usage/records.ts'
import { ACME } from '../examples/names.ts'
import { documented } from '../documented.ts'
import { adminRoute } from '../route.ts'
import { orNull, Time, timeText } from '../wire.ts'
import { changeRoute, removalRoute } from './mutation.ts'
import { limitsOf, quotaReport } from '../../state-machine/usage/quota.ts'

const PATH = '/tenants/{id}/quota'

const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const limit = (description: string) =>
  Type.Union([Count, Type.Null()], { description: `${description}; null: no limit` })

const LIMITS = {
  maxBytes: limit('Plain bytes of all versions and of the parts of unfinished uploads'),
  maxObjects: limit('Objects that a listing shows, over all buckets'),
  maxBuckets: limit('Buckets; limits.buckets_per_tenant holds beside it'),
}
const FURTHER_LIMITS = {
  maxVersions: limit('Object versions and delete markers, over all buckets'),
  maxUploads: limit('Unfinished uploads, over all buckets; their parts count as metadata'),
  maxMetadataBytes: limit(
    'Bytes of metadata: keys, content types, user metadata and tags of versions, markers and uploads, configurations of buckets, and 256 bytes for each record and part',
  ),
}
const Limits = Type.Object(
  { ...LIMITS, ...optional(FURTHER_LIMITS) },
  {
    additionalProperties: false,
    description: 'maxVersions, maxUploads and maxMetadataBytes only where they are set',
  },
)
const Usage = Type.Object(
  { bytes: Count, objects: Count, buckets: Count, versions: Count, uploads: Count, metadataBytes: Count },
  { additionalProperties: false },
)
const METADATA_MAX = Type.Union([Count, Type.Null()], {
  description:
    'The bytes of metadata that are allowed: maxMetadataBytes, or without it the largest of 64 KiB, maxBytes and 16 KiB for each of maxObjects; null: no limit',
})

function optional({ maxVersions, maxUploads, maxMetadataBytes }: typeof FURTHER_LIMITS) {
  return {
    maxVersions: Type.Optional(maxVersions),
    maxUploads: Type.Optional(maxUploads),
    maxMetadataBytes: Type.Optional(maxMetadataBytes),
  }
}

export const QuotaView = Type.Object(
  {
    tenantId: Type.String(),
    quota: Limits,
    usage: Usage,
    metadataBytesMax: METADATA_MAX,
    updatedAt: orNull(Time),
  },
  { additionalProperties: false },
)

const QuotaRequestBody = Type.Object(
  {
    maxBytes: Type.Optional(LIMITS.maxBytes),
    maxObjects: Type.Optional(LIMITS.maxObjects),
    maxBuckets: Type.Optional(LIMITS.maxBuckets),
    ...optional(FURTHER_LIMITS),
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
        const { quota, usage, metadataBytesMax } = outcome ?? present
        const plan = { before: limitsOf(present.quota), after: limitsOf(quota), usage }
        return { plan, warnings: warningsOf({ quota, usage, metadataBytesMax }), tenantId: id }
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

function quotaView({ tenantId, quota, usage, metadataBytesMax }: TenantQuota): Static<typeof QuotaView> {
  const updatedAt = quota.updatedAt === 0 ? null : timeText(quota.updatedAt)
  return { tenantId, quota: limitsOf(quota), usage, metadataBytesMax, updatedAt }
}

function warningsOf({ quota, usage, metadataBytesMax }: QuotaReport): readonly string[] {
  const held = [
    ['bytes', usage.bytes, quota.maxBytes],
    ['objects', usage.objects, quota.maxObjects],
    ['buckets', usage.buckets, quota.maxBuckets],
    ['versions and delete markers', usage.versions, quota.maxVersions ?? null],
    ['unfinished uploads', usage.uploads, quota.maxUploads ?? null],
    ['bytes of metadata', usage.metadataBytes, metadataBytesMax],
  ] as const
  return held
    .filter(([, present, max]) => max !== null && present > max)
    .map(
      ([what, present, max]) =>
        `The tenant has ${present} ${what}, more than ${max}: they stay, and no more are taken`,
    )
}
