/**
 * The routes of a bucket's replication to another site. [docs/adr/0090-replication-to-a-second-site.md]
 */
import Type, { type Static } from 'typebox'
import {
  deleteBucketReplication,
  getBucketReplication,
  resyncBucketReplication,
} from '../../operations/replication/bucket-replication.ts'
import { compareBucketReplication, COMPARED_MAX } from '../../operations/replication/compare-replication.ts'
import {
  FAILURES_SHOWN,
  getReplicationStatus,
  type ReplicationStatus,
  retryBucketReplication,
} from '../../operations/replication/replication-status.ts'
import { setBucketReplication } from '../../operations/replication/set-bucket-replication.ts'
import type { SiteRecord, SiteStateRecord } from '../../state-machine/sites/records.ts'
import { PHOTOS } from '../examples/names.ts'
import { Rules, ruleIn, ruleView, SECRET_KEY, STORE } from './replication-schemas.ts'
import { type Answer, dataRoute } from '../route.ts'
import {
  CONTINUATION_TOKEN,
  orNull,
  PAGE_END_SCHEMA,
  pageEnd,
  Time,
  timeText,
  timeTextOrNull,
} from '../wire.ts'

const PATH = '/buckets/{bucket}/replication'
const CONFIGURATION_BYTES_MAX = 256 * 1024

const TARGET = { ...STORE, bucket: Type.String() }

const GivenTarget = Type.Object(
  {
    ...TARGET,
    secretKey: SECRET_KEY,
  },
  { additionalProperties: false },
)

const Given = Type.Object(
  {
    target: GivenTarget,
    rules: Type.Optional(Rules),
    existing: Type.Optional(Type.Boolean({ description: 'Send what the bucket holds already too' })),
  },
  { additionalProperties: false },
)

const View = Type.Object(
  {
    target: Type.Object(TARGET, { additionalProperties: false }),
    rules: Rules,
    ofTenant: Type.Boolean({ description: 'It is that of all buckets of the tenant' }),
    updatedAt: Time,
  },
  { additionalProperties: false },
)

const Count = (description: string) => Type.Integer({ description, minimum: 0 })

const Failure = Type.Object(
  {
    kind: Type.Enum(['put', 'tags', 'lock', 'delete', 'remove']),
    key: Type.String(),
    versionId: Type.String(),
    time: Time,
    attempts: Type.Integer(),
    error: orNull(Type.String()),
  },
  { additionalProperties: false },
)

const Resync = Type.Object(
  {
    startedAt: Time,
    endedAt: orNull(Time),
    queued: Count('Versions that it has queued'),
    notReplicable: Count('Versions that it met and that only their clients can read'),
  },
  { additionalProperties: false },
)

const Status = Type.Object(
  {
    pending: Count('Changes that are acknowledged here and not there yet'),
    pendingBytes: Count('Bytes of their versions'),
    lagSeconds: Type.Number({ description: 'Age of the oldest of them, by the time of the cluster' }),
    oldestAt: orNull(Time),
    failed: Count('Changes that were given up'),
    sent: Count('Changes that are there'),
    sentBytes: Count('Bytes of their versions'),
    skipped: Count('Changes that were not needed there any more'),
    conflicts: Count('Changes that lost against a later one at the target'),
    notReplicable: Count(
      'Versions that are not sent, because only their clients have their keys (SSE-C); not those that a resync met',
    ),
    dropped: Count('Changes that no row was made of because too many waited; a resync finds the versions'),
    unreachableSince: orNull(Time),
    nextAttemptAt: orNull(Time),
    lastError: orNull(Type.String()),
    lastSentAt: orNull(Time),
    resync: orNull(Resync),
    failures: Type.Array(Failure, { description: `The first ${FAILURES_SHOWN} of the failed` }),
  },
  { additionalProperties: false },
)

const Compared = Type.Object(
  {
    compared: Count('Keys of either side'),
    differences: Type.Array(
      Type.Object(
        {
          key: Type.String(),
          difference: Type.Enum(['missing', 'extra', 'different', 'waiting', 'not_replicable'], {
            description:
              'missing: only here. extra: only there. different: other bytes. waiting: one of these, and a change of the key waits to be sent. not_replicable: the object here has a key of its client and is not sent',
          }),
        },
        { additionalProperties: false },
      ),
    ),
    ...PAGE_END_SCHEMA,
  },
  { additionalProperties: false },
)

const SHOWN = {
  status: 200,
  description: 'Target and rules, without the secret',
  content: { type: 'application/json', schema: View },
} as const

export const replicationRoutes = [
  dataRoute(
    getBucketReplication,
    {
      method: 'GET',
      path: PATH,
      summary: 'Get the replication of a bucket',
      description: '404 when the bucket is not replicated.',
      success: SHOWN,
      example: { params: PHOTOS },
    },
    async (services, principal, { params }) => shown(await getBucketReplication(services, principal, params)),
  ),

  dataRoute(
    setBucketReplication,
    {
      method: 'PUT',
      path: PATH,
      summary: 'Replicate a bucket to another Holdfast or S3 store',
      description:
        'Every change from now on is sent there, those of a key in their order. The target is asked before it is taken. Replaces what is set; what waits goes to the new target. Without rules everything is sent.',
      body: { schema: Given, bytesMax: CONFIGURATION_BYTES_MAX },
      success: SHOWN,
      example: {
        params: PHOTOS,
        body: {
          target: {
            endpoint: 'https://s3.other-site.example',
            bucket: 'photos-copy',
            accessKeyId: 'AKOTHERSITE',
            secretKey: 'the-secret-of-that-key',
          },
          rules: [{ id: 'all-but-drafts', filter: { prefix: '2026/' }, deletes: 'markers' }],
        },
      },
    },
    async (services, principal, { params, body }) => {
      const { target, rules = [], existing = false } = body
      const input = { ...params, target, rules: rules.map(ruleIn), existing }
      return shown(await setBucketReplication(services, principal, input))
    },
  ),

  dataRoute(
    getReplicationStatus,
    {
      method: 'GET',
      path: `${PATH}/status`,
      summary: 'Show what of a bucket is not at its other site yet',
      success: {
        status: 200,
        description: 'Counts, lag and failures',
        content: { type: 'application/json', schema: Status },
      },
      example: { params: PHOTOS },
    },
    async (services, principal, { params }) => ({
      kind: 'json',
      body: statusView(await getReplicationStatus(services, principal, params)),
    }),
  ),

  dataRoute(
    resyncBucketReplication,
    {
      method: 'POST',
      path: `${PATH}/resync`,
      summary: 'Queue what a bucket holds for its other site',
      description:
        'A walk in the background over all current objects and their versions. What is there already is found and not sent again. Again: it begins over.',
      success: {
        status: 202,
        description: 'The walk is under way',
        content: { type: 'application/json', schema: Resync },
      },
      example: { params: PHOTOS },
    },
    async (services, principal, { params }) => {
      const state = await resyncBucketReplication(services, principal, params)
      return { kind: 'json', body: resyncView(state.resync) }
    },
  ),

  dataRoute(
    retryBucketReplication,
    {
      method: 'POST',
      path: `${PATH}/retry`,
      summary: 'Send changes again that were given up',
      success: {
        status: 200,
        description: 'How many wait again',
        content: {
          type: 'application/json',
          schema: Type.Object({ retried: Type.Integer() }, { additionalProperties: false }),
        },
      },
      example: { params: PHOTOS },
    },
    async (services, principal, { params }) => ({
      kind: 'json',
      body: { ...(await retryBucketReplication(services, principal, params)) },
    }),
  ),

  dataRoute(
    compareBucketReplication,
    {
      method: 'POST',
      path: `${PATH}/compare`,
      summary: 'Compare a bucket with its other site',
      description: `Current objects, by size and digest; reads no bytes and changes nothing. An answer compares up to ${2 * COMPARED_MAX} keys; with \`nextContinuationToken\` the next one those behind.`,
      body: {
        schema: Type.Object({ continuationToken: CONTINUATION_TOKEN }, { additionalProperties: false }),
        bytesMax: 8 * 1024,
      },
      success: {
        status: 200,
        description: 'What differs',
        content: { type: 'application/json', schema: Compared },
      },
      example: { params: PHOTOS, body: {} },
    },
    async (services, principal, { params, body }) => {
      const { continuationToken } = body
      const from = continuationToken === undefined ? {} : { continuationToken }
      const { compared, differences, nextContinuationToken } = await compareBucketReplication(
        services,
        principal,
        { ...params, ...from },
      )
      const page = pageEnd(nextContinuationToken)
      return { kind: 'json', body: { compared, differences: [...differences], ...page } }
    },
  ),

  dataRoute(
    deleteBucketReplication,
    {
      method: 'DELETE',
      path: PATH,
      summary: 'End the replication of a bucket; that there was none is no error',
      description: 'What waits is not sent any more; what is there stays.',
      success: { status: 204, description: 'The bucket is not replicated' },
      example: { params: PHOTOS },
    },
    async (services, principal, { params }) => {
      await deleteBucketReplication(services, principal, params)
      return { kind: 'empty' }
    },
  ),
]

function shown({ target, rules, ofTenant, updatedAt }: SiteRecord): Answer {
  const { endpoint, bucket, region, isVirtualHost: virtualHost, accessKeyId } = target
  return {
    kind: 'json',
    body: {
      target: { endpoint, bucket, region, virtualHost, accessKeyId },
      rules: rules.map(ruleView),
      ofTenant: ofTenant !== undefined,
      updatedAt: timeText(updatedAt),
    },
  }
}

function statusView({ state, oldest, lagMs, failures }: ReplicationStatus) {
  const { pending, pendingBytes, failed, sent, sentBytes, skipped, conflicts, notReplicable, dropped } = state
  const { failingSince, notBefore, lastError, lastSentAt, resync } = state
  return {
    pending,
    pendingBytes,
    lagSeconds: lagMs / 1000,
    oldestAt: timeTextOrNull(oldest?.time ?? null),
    failed,
    sent,
    sentBytes,
    skipped,
    conflicts,
    notReplicable,
    dropped,
    unreachableSince: timeTextOrNull(failingSince),
    nextAttemptAt: timeTextOrNull(notBefore === 0 ? null : notBefore),
    lastError,
    lastSentAt: timeTextOrNull(lastSentAt),
    resync: resync === null ? null : resyncView(resync),
    failures: failures.map(({ kind, key, versionId, time, attempts, lastError: error }) => ({
      kind,
      key,
      versionId,
      time: timeText(time),
      attempts,
      error,
    })),
  }
}

function resyncView(resync: SiteStateRecord['resync']): Static<typeof Resync> {
  const { startedAt = 0, endedAt = null, queued = 0, notReplicable = 0 } = resync ?? {}
  return { startedAt: timeText(startedAt), endedAt: timeTextOrNull(endedAt), queued, notReplicable }
}
