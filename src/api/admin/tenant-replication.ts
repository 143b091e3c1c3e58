/**
 * The replication of all buckets of a tenant, on the wire. [docs/adr/0098-what-replication-sends.md]
 *
 * Rule: no answer contains the secret of the target.
 */
import Type, { type Static } from 'typebox'
import {
  deleteTenantReplication,
  followCounts,
  getTenantReplication,
  setTenantReplication,
  type TenantReplication,
  WAITING_SHOWN,
} from '../../operations/replication/tenant-replication.ts'
import type { TenantSiteRecord, WaitingSiteRecord } from '../../state-machine/sites/records.ts'
import { tenantSiteOf } from '../../state-machine/sites/tenant-sites.ts'
import { ACME } from '../examples/names.ts'
import { Rules, ruleIn, ruleView, SECRET_KEY, STORE } from '../native/replication-schemas.ts'
import { adminRoute } from '../route.ts'
import { orNull, Time, timeText } from '../wire.ts'
import { changeRoute, removalRoute } from './mutation.ts'

const PATH = '/tenants/{id}/replication'
const CONFIGURATION_BYTES_MAX = 256 * 1024

const TARGET = {
  ...STORE,
  bucketPrefix: Type.Optional(
    Type.String({
      description: 'The name of a bucket there is this and the name of the bucket here; usually empty',
    }),
  ),
}
const CREATE_BUCKETS = Type.Boolean({
  description: 'Create a bucket that is not there, with versions; needs s3:CreateBucket at the target',
})
const EXISTING = Type.Boolean({
  description: 'Send what buckets hold already too; what is in a bucket that is made later always is',
})

const Given = Type.Object(
  {
    target: Type.Object({ ...TARGET, secretKey: SECRET_KEY }, { additionalProperties: false }),
    rules: Type.Optional(Rules),
    createBuckets: Type.Optional(CREATE_BUCKETS),
    existing: Type.Optional(EXISTING),
  },
  { additionalProperties: false },
)

const Waiting = Type.Object(
  {
    bucket: Type.String(),
    since: Time,
    attempts: Type.Integer({ minimum: 1 }),
    nextAttemptAt: Time,
    error: Type.String({ description: 'What the target answered' }),
  },
  { additionalProperties: false },
)

export const TenantReplicationView = Type.Object(
  {
    tenantId: Type.String(),
    target: Type.Object(TARGET, { additionalProperties: false }),
    rules: Rules,
    createBuckets: CREATE_BUCKETS,
    existing: EXISTING,
    updatedAt: Time,
    waiting: Type.Array(Waiting, {
      description: `Buckets that do not follow yet because their target is not there or refuses; the first ${WAITING_SHOWN}`,
    }),
  },
  { additionalProperties: false },
)

const Count = (description: string) => Type.Integer({ description, minimum: 0 })
const Counts = Type.Object(
  {
    follow: Count('Buckets that follow it, or will'),
    own: Count('Buckets with a replication of their own, which stays'),
    copies: Count(
      'Buckets that the replication of another site has made for another name; they do not follow',
    ),
  },
  { additionalProperties: false },
)

export const tenantReplicationRoutes = [
  adminRoute(
    getTenantReplication,
    {
      method: 'GET',
      path: PATH,
      summary: 'Get the replication of all buckets of a tenant, and which wait for their target',
      description: '404 when the tenant is not replicated as a whole.',
      success: {
        status: 200,
        description: 'Target and rules, without the secret',
        content: { type: 'application/json', schema: TenantReplicationView },
      },
      example: { params: ACME },
    },
    async (services, principal, { params }) => ({
      kind: 'json',
      body: shown(await getTenantReplication(services, principal, params)),
    }),
  ),

  changeRoute(
    setTenantReplication,
    {
      method: 'PUT',
      path: PATH,
      summary: 'Replicate all buckets of a tenant to another Holdfast or S3 store, also those made later',
      description:
        'Each bucket without a replication of its own follows within seconds, once its bucket at the target answers. The target is asked in a dry run too. Replaces what is set.',
      body: { schema: Given, bytesMax: CONFIGURATION_BYTES_MAX },
      answers: 'What is set, or the plan of a dry run',
      view: TenantReplicationView,
      plan: Type.Object({
        before: orNull(TenantReplicationView),
        after: orNull(TenantReplicationView),
        buckets: orNull(Counts),
      }),
      example: {
        params: ACME,
        body: {
          target: {
            endpoint: 'https://s3.other-site.example',
            bucketPrefix: 'acme-',
            accessKeyId: 'AKOTHERSITE',
            secretKey: 'the-secret-of-that-key',
          },
          rules: [{ id: 'everything', deletes: 'markers' }],
          createBuckets: true,
        },
      },
    },
    {
      run: (services, principal, { params, body }) => {
        const { target, rules = [], createBuckets: createsBuckets = false, existing = false } = body
        const input = { ...params, target, rules: rules.map(ruleIn), createsBuckets, existing }
        return setTenantReplication(services, principal, input)
      },
      answer: shown,
      plan: async (services, { params: { id } }, outcome) => {
        const present = tenantSiteOf(services.state, id)
        const before = present === undefined ? null : shown({ site: present, waiting: [] })
        const after = outcome === null ? null : shown(outcome)
        const buckets = outcome === null ? null : await followCounts(services, outcome.site)
        const warnings = outcome?.site.target.endpoint.startsWith('http:') === true ? [PLAIN_HTTP] : []
        return { plan: { before, after, buckets }, warnings, tenantId: id }
      },
    },
  ),

  removalRoute(
    deleteTenantReplication,
    {
      method: 'DELETE',
      path: PATH,
      summary: 'End the replication of all buckets of a tenant; that there was none is no error',
      description:
        'Buckets that follow are released within seconds, and what waits in them is not sent. Those with a replication of their own keep it; what is at the target stays.',
      plan: Type.Object({ before: orNull(TenantReplicationView), buckets: orNull(Counts) }),
      example: { params: ACME },
    },
    {
      run: (services, principal, { params }) => deleteTenantReplication(services, principal, params),
      plan: async (services, { params: { id } }) => {
        const present = tenantSiteOf(services.state, id)
        if (present === undefined)
          return { plan: { before: null, buckets: null }, warnings: [], tenantId: id }
        const before = shown({ site: present, waiting: [] })
        return {
          plan: { before, buckets: await followCounts(services, present) },
          warnings: [],
          tenantId: id,
        }
      },
    },
  ),
]

const PLAIN_HTTP = 'The endpoint has no TLS: objects and their names can be read on the way'

function shown({ site, waiting }: TenantReplication): Static<typeof TenantReplicationView> {
  return { ...siteView(site), waiting: waiting.map(waitingView) }
}

function siteView({ tenantId, target, rules, createsBuckets, existing, updatedAt }: TenantSiteRecord) {
  const { endpoint, bucketPrefix, region, isVirtualHost: virtualHost, accessKeyId } = target
  return {
    tenantId,
    target: { endpoint, bucketPrefix, region, virtualHost, accessKeyId },
    rules: rules.map(ruleView),
    createBuckets: createsBuckets,
    existing,
    updatedAt: timeText(updatedAt),
  }
}

function waitingView({ bucket, since, attempts, dueAt, lastError: error }: WaitingSiteRecord) {
  return { bucket, since: timeText(since), attempts, nextAttemptAt: timeText(dueAt), error }
}
