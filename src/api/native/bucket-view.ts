/**
 * A bucket as clients see it. [decisions 2]
 */
import Type, { type Static } from 'typebox'
import { VERSIONING_STATES } from '../../operations/buckets/versioning-state.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import { orNull, Time, timeText } from '../wire.ts'

export const BucketView = Type.Object(
  {
    name: Type.String(),
    tenantId: Type.String(),
    createdAt: Time,
    versioning: Type.Enum([...VERSIONING_STATES]),
    objectLockEnabled: Type.Boolean(),
    defaultRetention: orNull(Type.Object({})),
    visibility: Type.Enum(['private']),
    hasCors: Type.Boolean(),
    hasNotifications: Type.Boolean(),
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
    defaultRetention: null,
    visibility: 'private',
    hasCors: bucket.hasCors ?? false,
    hasNotifications: bucket.hasNotifications === true,
  }
}
