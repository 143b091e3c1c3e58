/**
 * The routes of a bucket's lifecycle rules, and of what they would do now. [docs/adr/0085-lifecycle-rules.md]
 */
import Type, { type Static } from 'typebox'
import { PRINTABLE_PATTERN } from '../../base/printable.ts'
import { deleteBucketLifecycle } from '../../operations/lifecycle/delete-bucket-lifecycle.ts'
import { getBucketLifecycle } from '../../operations/lifecycle/get-bucket-lifecycle.ts'
import {
  LIFECYCLE_ID_CHARACTERS_MAX,
  type LifecycleRuleInput,
} from '../../operations/lifecycle/lifecycle-rules.ts'
import {
  PREVIEW_ITEMS_MAX,
  PREVIEW_ROWS_MAX,
  previewBucketLifecycle,
} from '../../operations/lifecycle/preview-bucket-lifecycle.ts'
import { setBucketLifecycle } from '../../operations/lifecycle/set-bucket-lifecycle.ts'
import type { LifecyclePlanned } from '../../state-machine/lifecycle/plan.ts'
import {
  LIFECYCLE_DAYS_MAX,
  LIFECYCLE_KEPT_MAX,
  LIFECYCLE_RULES_MAX,
  type LifecycleRecord,
  type LifecycleRule,
} from '../../state-machine/lifecycle/records.ts'
import { documented } from '../documented.ts'
import { PHOTOS } from '../examples/names.ts'
import { type Answer, dataRoute } from '../route.ts'
import { CONTINUATION_TOKEN, PAGE_END_SCHEMA, pageEnd, Time, timeText } from '../wire.ts'
import { Tags } from './given-schemas.ts'

const PATH = '/buckets/{bucket}/lifecycle'
/** As with S3. */
const CONFIGURATION_BYTES_MAX = 64 * 1024

const Days = Type.Integer(documented({ minimum: 1, maximum: LIFECYCLE_DAYS_MAX }))
const Bytes = Type.Integer(documented({ minimum: 0 }))

const Filter = Type.Object(
  {
    prefix: Type.Optional(Type.String(documented({ maxLength: 1024, pattern: '^[^\\u0000]*$' }))),
    tags: Type.Optional(Tags),
    sizeGreaterThan: Type.Optional(Bytes),
    sizeLessThan: Type.Optional(Bytes),
  },
  { additionalProperties: false, description: 'Every condition has to hold; none: all objects' },
)

const Expiration = Type.Object(
  {
    days: Type.Optional(Days),
    date: Type.Optional(
      Type.String({ description: 'A midnight in UTC', ...documented({ format: 'date-time' }) }),
    ),
    expiredObjectDeleteMarker: Type.Optional(Type.Boolean()),
  },
  {
    additionalProperties: false,
    description:
      'One of the three. A delete marker under which no version is left goes by the third, and by days',
  },
)

const Noncurrent = Type.Object(
  {
    noncurrentDays: Days,
    newerNoncurrentVersions: Type.Optional(
      Type.Integer(documented({ minimum: 1, maximum: LIFECYCLE_KEPT_MAX })),
    ),
  },
  { additionalProperties: false },
)

const Abort = Type.Object({ daysAfterInitiation: Days }, { additionalProperties: false })

const RuleView = Type.Object(
  {
    id: Type.Optional(
      Type.String(
        documented({ minLength: 1, maxLength: LIFECYCLE_ID_CHARACTERS_MAX, pattern: PRINTABLE_PATTERN }),
      ),
    ),
    status: Type.String(documented({ enum: ['Enabled', 'Disabled'] })),
    filter: Type.Optional(Filter),
    expiration: Type.Optional(Expiration),
    noncurrentVersionExpiration: Type.Optional(Noncurrent),
    abortIncompleteMultipartUpload: Type.Optional(Abort),
  },
  { additionalProperties: false },
)

const Rules = Type.Array(RuleView, documented({ minItems: 1, maxItems: LIFECYCLE_RULES_MAX }))
const LifecycleView = Type.Object({ rules: Rules }, { additionalProperties: false })

const SHOWN = {
  status: 200,
  description: 'The rules',
  content: { type: 'application/json', schema: LifecycleView },
} as const

const PreviewRequest = Type.Object(
  {
    rules: Type.Optional(Rules),
    limit: Type.Optional(Type.Integer({ minimum: 0, maximum: PREVIEW_ITEMS_MAX })),
    continuationToken: CONTINUATION_TOKEN,
  },
  { additionalProperties: false },
)

const KINDS = ['expired', 'hidden', 'noncurrent', 'marker', 'upload'] as const

const PreviewItem = Type.Object(
  {
    kind: Type.Enum([...KINDS]),
    ruleId: Type.String(),
    key: Type.String(),
    versionId: Type.Optional(Type.String()),
    uploadId: Type.Optional(Type.String()),
    bytes: Type.Integer(),
    lockedBy: Type.Optional(Type.String({ description: 'Why it stays' })),
  },
  { additionalProperties: false },
)

const Preview = Type.Object(
  {
    judgedAt: Time,
    rows: Type.Integer({ description: 'Versions, delete markers and uploads that were looked at' }),
    counts: Type.Object(
      {
        expired: Type.Integer({ description: 'Objects that are removed' }),
        hidden: Type.Integer({ description: 'Objects that get a delete marker' }),
        noncurrent: Type.Integer({ description: 'Noncurrent versions that are removed' }),
        marker: Type.Integer({ description: 'Delete markers that are removed' }),
        upload: Type.Integer({ description: 'Uploads that are aborted' }),
      },
      { additionalProperties: false },
    ),
    bytes: Type.Integer({ description: 'Bytes that would no longer count' }),
    locked: Type.Integer({ description: 'Versions that a rule names and a lock keeps; not in the counts' }),
    items: Type.Array(PreviewItem),
    ...PAGE_END_SCHEMA,
  },
  { additionalProperties: false },
)

const EXAMPLE_RULES = [
  {
    id: 'tmp',
    status: 'Enabled',
    filter: { prefix: 'tmp/', tags: { keep: 'no' } },
    expiration: { days: 30 },
    noncurrentVersionExpiration: { noncurrentDays: 7, newerNoncurrentVersions: 3 },
  },
]

export const lifecycleRoutes = [
  dataRoute(
    getBucketLifecycle,
    {
      method: 'GET',
      path: PATH,
      summary: 'Get the lifecycle rules of a bucket',
      description: '404 when none are set.',
      success: SHOWN,
      example: { params: PHOTOS },
    },
    async (services, principal, { params }) => shown(await getBucketLifecycle(services, principal, params)),
  ),

  dataRoute(
    setBucketLifecycle,
    {
      method: 'PUT',
      path: PATH,
      summary: 'Replace the lifecycle rules of a bucket',
      description: `What is removed by age. 1 to ${LIFECYCLE_RULES_MAX} rules, ${CONFIGURATION_BYTES_MAX / 1024} KiB in all; a rule without an id gets one. Days end at the first midnight in UTC that is not before them. A rule acts within minutes of being set, and then after each midnight; nothing that is locked is removed.`,
      body: { schema: LifecycleView, bytesMax: CONFIGURATION_BYTES_MAX },
      success: SHOWN,
      example: { params: PHOTOS, body: { rules: EXAMPLE_RULES } },
    },
    async (services, principal, { params, body }) => {
      const rules = body.rules.map(ruleIn)
      return shown(await setBucketLifecycle(services, principal, { ...params, rules }))
    },
  ),

  dataRoute(
    previewBucketLifecycle,
    {
      method: 'POST',
      path: `${PATH}/preview`,
      summary: 'Show what lifecycle rules would do now',
      description: `Of the rules of the bucket, or of those in the body, which need not be set. Changes nothing. An answer counts at most ${PREVIEW_ROWS_MAX} rows; with \`nextContinuationToken\` the next one counts those behind.`,
      body: { schema: PreviewRequest, bytesMax: CONFIGURATION_BYTES_MAX },
      success: {
        status: 200,
        description: 'What would go, and the first of it',
        content: { type: 'application/json', schema: Preview },
      },
      example: { params: PHOTOS, body: { rules: EXAMPLE_RULES, limit: 10 } },
    },
    async (services, principal, { params, body }) => {
      const { rules, limit, continuationToken } = body
      const { judgedAt, items, nextContinuationToken, ...counted } = await previewBucketLifecycle(
        services,
        principal,
        {
          ...params,
          ...(rules === undefined ? {} : { rules: rules.map(ruleIn) }),
          ...(limit === undefined ? {} : { limit }),
          ...(continuationToken === undefined ? {} : { continuationToken }),
        },
      )
      const shownItems = items.map(itemView)
      const page = pageEnd(nextContinuationToken)
      return { kind: 'json', body: { judgedAt: timeText(judgedAt), ...counted, items: shownItems, ...page } }
    },
  ),

  dataRoute(
    deleteBucketLifecycle,
    {
      method: 'DELETE',
      path: PATH,
      summary: 'Remove the lifecycle rules of a bucket; that there were none is no error',
      success: { status: 204, description: 'The bucket has no lifecycle rules' },
      example: { params: PHOTOS },
    },
    async (services, principal, { params }) => {
      await deleteBucketLifecycle(services, principal, params)
      return { kind: 'empty' }
    },
  ),
]

function ruleIn({ filter, ...rule }: Static<typeof RuleView>): LifecycleRuleInput {
  if (filter === undefined) return rule
  const { tags, ...plain } = filter
  return { ...rule, filter: tags === undefined ? plain : { ...plain, tags: Object.entries(tags) } }
}

function shown({ rules }: LifecycleRecord): Answer {
  return { kind: 'json', body: { rules: rules.map(ruleView) } }
}

/** What a rule does not ask for is not shown. */
function ruleView({
  id,
  isEnabled,
  filter,
  expiration,
  noncurrent,
  abortUploadDays,
}: LifecycleRule): Static<typeof RuleView> {
  return {
    id,
    status: isEnabled ? 'Enabled' : 'Disabled',
    filter: filterView(filter),
    ...(expiration === null ? {} : { expiration: expirationView(expiration) }),
    ...(noncurrent === null ? {} : { noncurrentVersionExpiration: noncurrentView(noncurrent) }),
    ...(abortUploadDays === null
      ? {}
      : { abortIncompleteMultipartUpload: { daysAfterInitiation: abortUploadDays } }),
  }
}

function filterView({
  prefix,
  tags,
  sizeGreaterThan,
  sizeLessThan,
}: LifecycleRule['filter']): Static<typeof Filter> {
  return {
    ...(prefix === '' ? {} : { prefix }),
    ...(Object.keys(tags).length === 0 ? {} : { tags: { ...tags } }),
    ...(sizeGreaterThan === null ? {} : { sizeGreaterThan }),
    ...(sizeLessThan === null ? {} : { sizeLessThan }),
  }
}

function expirationView(expiration: NonNullable<LifecycleRule['expiration']>): Static<typeof Expiration> {
  if ('days' in expiration) return { days: expiration.days }
  if ('date' in expiration) return { date: timeText(expiration.date) }
  return { expiredObjectDeleteMarker: true }
}

function noncurrentView({
  days,
  newerKept,
}: NonNullable<LifecycleRule['noncurrent']>): Static<typeof Noncurrent> {
  return { noncurrentDays: days, ...(newerKept === 0 ? {} : { newerNoncurrentVersions: newerKept }) }
}

function itemView({ kind, ruleId, key, id, bytes, lock }: LifecyclePlanned): Static<typeof PreviewItem> {
  const name = kind === 'upload' ? { uploadId: id } : { versionId: id }
  return { kind, ruleId, key, ...name, bytes, ...(lock === null ? {} : { lockedBy: lock }) }
}
