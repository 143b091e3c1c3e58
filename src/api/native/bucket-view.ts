/**
 * A bucket as clients see it. [decisions 2]
 */
import Type, { type Static } from 'typebox'
import { VERSIONING_STATES } from '../../operations/buckets/versioning-state.ts'
import type { BucketUsage, BucketUsageReport } from '../../operations/buckets/bucket-usage.ts'
import {
  type BucketRecord,
  DEFAULT_RETENTION_DAYS_MAX,
  DEFAULT_RETENTION_YEARS_MAX,
} from '../../state-machine/buckets/records.ts'
import { documented } from '../documented.ts'
import { orNull, Time, timeText } from '../wire.ts'
import { RETENTION_MODES } from './settings-headers.ts'

export const DefaultRetentionView = Type.Object(
  {
    mode: Type.Enum([...RETENTION_MODES]),
    days: Type.Optional(Type.Integer(documented({ minimum: 1, maximum: DEFAULT_RETENTION_DAYS_MAX }))),
    years: Type.Optional(
      Type.Integer({
        description: 'of 365 days each',
        ...documented({ minimum: 1, maximum: DEFAULT_RETENTION_YEARS_MAX }),
      }),
    ),
  },
  {
    additionalProperties: false,
    description: 'One of days and years',
    ...documented({ minProperties: 2, maxProperties: 2 }),
  },
)

const count = (description: string) => Type.Integer({ minimum: 0, description })

const USAGE = {
  objects: count('Keys whose newest version is no delete marker'),
  versions: count('All versions, the newest ones too; no delete markers'),
  deleteMarkers: Type.Integer({ minimum: 0 }),
  logicalBytes: count('Plain bytes of all versions'),
  multipartUploads: count('Unfinished ones'),
  multipartBytes: count('Plain bytes of their parts'),
}

export const BucketUsageView = Type.Object(
  { bucket: Type.String(), asOf: Time, ...USAGE },
  { additionalProperties: false },
)

export const BucketView = Type.Object(
  {
    name: Type.String(),
    tenantId: Type.String(),
    createdAt: Time,
    versioning: Type.Enum([...VERSIONING_STATES]),
    objectLockEnabled: Type.Boolean(),
    defaultRetention: orNull(DefaultRetentionView),
    visibility: Type.Enum(['private']),
    hasCors: Type.Boolean(),
    hasNotifications: Type.Boolean(),
    usage: Type.Optional(
      Type.Object(USAGE, {
        additionalProperties: false,
        description: 'In a listing with include=usage, of buckets that the key may read as a whole',
      }),
    ),
  },
  { additionalProperties: false },
)

export function bucketView(bucket: BucketRecord): Static<typeof BucketView> {
  const { name, tenantId, createdAt, versioning, objectLockEnabled } = bucket
  return {
    name,
    tenantId,
    createdAt: timeText(createdAt),
    versioning,
    objectLockEnabled,
    defaultRetention: defaultRetentionView(bucket),
    visibility: 'private',
    hasCors: bucket.hasCors ?? false,
    hasNotifications: bucket.hasNotifications === true,
  }
}

export function bucketUsageView({
  bucket,
  asOf,
  ...usage
}: BucketUsageReport): Static<typeof BucketUsageView> {
  return { bucket, asOf: timeText(asOf), ...usage }
}

/** A line of a listing. */
export function listedBucketView(bucket: BucketRecord, usage: BucketUsage | null): Static<typeof BucketView> {
  return { ...bucketView(bucket), ...(usage === null ? {} : { usage }) }
}

export function defaultRetentionView({
  defaultRetention,
}: Pick<BucketRecord, 'defaultRetention'>): Static<typeof DefaultRetentionView> | null {
  return defaultRetention === undefined ? null : { ...defaultRetention }
}
