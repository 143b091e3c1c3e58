/**
 * Limits of tenants on the data plane, on the wire.
 *
 * Rule: in what an operator sets, null or no value is "as the settings of the node say" and 0 is no limit.
 */
import Type, { type Static } from 'typebox'
import {
  deleteTenantLimits,
  getTenantLimits,
  setTenantLimits,
  type TenantLimits,
} from '../../operations/tenants/tenant-limits.ts'
import { limitKeys } from '../../state-machine/limits/keys.ts'
import {
  BURST_SECONDS_MAX,
  LIMIT_MAX,
  LIMIT_WEIGHT_MAX,
  type TenantLimitsRecord,
} from '../../state-machine/limits/records.ts'
import { ACME } from '../examples/names.ts'
import { documented } from '../documented.ts'
import { adminRoute } from '../route.ts'
import { orNull, Time, timeText } from '../wire.ts'
import { changeRoute, removalRoute } from './mutation.ts'

const PATH = '/tenants/{id}/limits'

const Count = Type.Integer({ minimum: 0, maximum: LIMIT_MAX })
const limit = (description: string) =>
  Type.Union([Count, Type.Null()], {
    description: `${description}; 0: no limit; null: the setting of the node`,
  })

const SCOPE = {
  requestsPerSecond: limit('Requests of the data plane each second'),
  bytesInPerSecond: limit('Bytes of request bodies each second'),
  bytesOutPerSecond: limit('Bytes of answer bodies each second'),
  burstSeconds: Type.Union([Type.Integer({ minimum: 1, maximum: BURST_SECONDS_MAX }), Type.Null()], {
    description:
      'So many seconds of each rate may come at once after a quiet time; null: the setting of the node',
  }),
  requestsAtOnce: limit('Requests that run at the same time'),
  uploadsAtOnce: limit('Uploads of objects and parts among them'),
}
const Scope = Type.Object(SCOPE, { additionalProperties: false })
const ScopeRequest = Type.Object(
  {
    requestsPerSecond: Type.Optional(SCOPE.requestsPerSecond),
    bytesInPerSecond: Type.Optional(SCOPE.bytesInPerSecond),
    bytesOutPerSecond: Type.Optional(SCOPE.bytesOutPerSecond),
    burstSeconds: Type.Optional(SCOPE.burstSeconds),
    requestsAtOnce: Type.Optional(SCOPE.requestsAtOnce),
    uploadsAtOnce: Type.Optional(SCOPE.uploadsAtOnce),
  },
  { additionalProperties: false },
)
const Weight = Type.Integer({
  minimum: 1,
  maximum: LIMIT_WEIGHT_MAX,
  description: 'Turns in each round of the tenants that wait; 1 without a value',
})

const Limits = Type.Object(
  { tenant: Scope, accessKey: Scope, weight: Weight },
  { additionalProperties: false, description: 'What was set' },
)
const Applied = Type.Object(
  {
    requestsPerSecond: Count,
    bytesInPerSecond: Count,
    bytesOutPerSecond: Count,
    burstSeconds: Type.Number(),
    requestsAtOnce: Count,
    uploadsAtOnce: Count,
  },
  { additionalProperties: false },
)

export const TenantLimitsView = Type.Object(
  {
    tenantId: Type.String(),
    limits: Limits,
    applied: Type.Object(
      { tenant: Applied, accessKey: Applied },
      { additionalProperties: false, description: 'With the settings of the answering node; 0: no limit' },
    ),
    use: Type.Object(
      {
        requestsAtOnce: Type.Integer({ minimum: 0, description: 'That run now, on all nodes' }),
        uploadsAtOnce: Type.Integer({ minimum: 0 }),
        refused: Type.Integer({ minimum: 0, description: 'By the answering node since its start' }),
        limitedWithinSeconds: orNull(
          Type.Integer({
            minimum: 0,
            description: 'So long ago the answering node last refused or held back a request; null: never',
          }),
        ),
      },
      { additionalProperties: false },
    ),
    updatedAt: orNull(Time),
  },
  { additionalProperties: false },
)

const LimitsRequestBody = Type.Object(
  {
    tenant: Type.Optional(ScopeRequest),
    accessKey: Type.Optional(ScopeRequest),
    weight: Type.Optional(Weight),
  },
  { additionalProperties: false, ...documented({ minProperties: 1 }) },
)

export const limitRoutes = [
  adminRoute(
    getTenantLimits,
    {
      method: 'GET',
      path: PATH,
      summary: 'Get the limits of a tenant on the data plane, and whether it meets them',
      success: {
        status: 200,
        description: 'What was set, what the answering node applies, and what runs now',
        content: { type: 'application/json', schema: TenantLimitsView },
      },
      example: { params: ACME },
    },
    async (services, principal, { params }) => {
      return { kind: 'json', body: limitsView(await getTenantLimits(services, principal, params)) }
    },
  ),

  changeRoute(
    setTenantLimits,
    {
      method: 'PUT',
      path: PATH,
      summary: 'Set the limits of a tenant and of each of its access keys, in place of those it has',
      description:
        'A limit that is not named is that of the settings. All nodes together give about one limit. Each node applies a change within a second.',
      body: { schema: LimitsRequestBody },
      answers: 'The limits, or the plan of a dry run',
      view: TenantLimitsView,
      plan: Type.Object({ before: Limits, after: Limits }),
      example: {
        params: ACME,
        body: {
          tenant: { requestsPerSecond: 500, bytesOutPerSecond: 104_857_600, uploadsAtOnce: 50 },
          accessKey: { requestsPerSecond: 100 },
          weight: 2,
        },
      },
    },
    {
      run: (services, principal, { params, body }) =>
        setTenantLimits(services, principal, { ...params, ...body }),
      answer: limitsView,
      plan: async ({ state }, { params: { id } }, outcome) => {
        const present = state.get(limitKeys.limits(id)) ?? null
        const after = outcome === null ? present : outcome.record
        return { plan: { before: setLimits(present), after: setLimits(after) }, warnings: [], tenantId: id }
      },
    },
  ),

  removalRoute(
    deleteTenantLimits,
    {
      method: 'DELETE',
      path: PATH,
      summary: 'Clear the limits of a tenant, so that the settings hold; repeating it is no error',
      plan: Type.Object({ before: Limits }),
      example: { params: ACME },
    },
    {
      run: (services, principal, { params }) => deleteTenantLimits(services, principal, params),
      plan: async ({ state }, { params: { id } }) => {
        const before = setLimits(state.get(limitKeys.limits(id)) ?? null)
        return { plan: { before }, warnings: [], tenantId: id }
      },
    },
  ),
]

const FOLLOWED = {
  requestsPerSecond: null,
  bytesInPerSecond: null,
  bytesOutPerSecond: null,
  burstSeconds: null,
  requestsAtOnce: null,
  uploadsAtOnce: null,
}

function setLimits(record: TenantLimitsRecord | null): Static<typeof Limits> {
  if (record === null) return { tenant: FOLLOWED, accessKey: FOLLOWED, weight: 1 }
  const { tenant, accessKey, weight } = record
  return { tenant, accessKey, weight }
}

function limitsView({ tenantId, record, report }: TenantLimits): Static<typeof TenantLimitsView> {
  const updatedAt = record === null ? null : timeText(record.updatedAt)
  return { tenantId, limits: setLimits(record), ...report, updatedAt }
}
