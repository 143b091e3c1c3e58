/**
 * Rows of lifecycle rules, and the bounds of a configuration.
 */
import type { BucketId, TenantId } from '../base/record-ids.ts'
import type { Tags } from '../versions/records.ts'

export const LIFECYCLE_RULES_MAX = 100
/** Of days, and of versions that are kept: what S3 takes for versions, and a century for days. */
export const LIFECYCLE_DAYS_MAX = 36_500
export const LIFECYCLE_KEPT_MAX = 100

/** What a rule is about; every condition has to hold. */
export interface LifecycleFilter {
  /** Empty: all keys. */
  readonly prefix: string
  readonly tags: Tags
  /** Bytes, neither included. null: no bound. */
  readonly sizeGreaterThan: number | null
  readonly sizeLessThan: number | null
}

/** Of the newest version of a key. `date`: a midnight UTC in ms since 1970. */
export type LifecycleExpiration =
  | { readonly days: number }
  | { readonly date: number }
  /** A delete marker under which no version is left. */
  | { readonly expiredDeleteMarker: true }

/** null: the rule does not do that. */
export interface LifecycleRule {
  /** One of its kind in the bucket. */
  readonly id: string
  readonly isEnabled: boolean
  readonly filter: LifecycleFilter
  readonly expiration: LifecycleExpiration | null
  /** `newerKept`: so many newer noncurrent objects of the key stay, regardless of their age. */
  readonly noncurrent: { readonly days: number; readonly newerKept: number } | null
  /** After how many days an unfinished upload is aborted. */
  readonly abortUploadDays: number | null
}

/** Present exactly while the bucket has `hasLifecycle`. */
export interface LifecycleRecord {
  readonly rules: readonly LifecycleRule[]
  readonly updatedAt: number
  /** Index in the log of the entry that set the rules. */
  readonly revision: number
}

/** When the bucket is looked at next, and when the last look was through; null: never. ms since 1970 */
export interface LifecycleWalkRecord {
  readonly turnAt: number
  readonly walkedAt: number | null
}

/** The queue of buckets with rules, in the order of their turns. */
export interface LifecycleTurnRecord {
  readonly tenantId: TenantId
  readonly bucket: string
  readonly bucketId: BucketId
  readonly turnAt: number
}
