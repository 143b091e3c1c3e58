/**
 * The command of a restore into the running cluster, and its reply.
 */
import type { Checksums } from '../bodies/records.ts'
import type { BucketRecord, CorsRule, DefaultRetention } from '../buckets/records.ts'
import type { PutBody } from '../chunks/commands.ts'
import type { LifecycleRule } from '../lifecycle/records.ts'
import type { TenantLimitsRecord } from '../limits/records.ts'
import type { LongOperation, LongOperationProgress, MissingVersion } from '../long-operations/records.ts'
import type { TenantRecord } from '../tenants/records.ts'
import type { QuotaRecord } from '../usage/records.ts'
import type { ObjectRecord } from '../versions/records.ts'

/** Of a version: what the backup says of it and does not follow from its place or its bytes. */
export type RestoredFacts = Pick<
  ObjectRecord,
  | 'key'
  | 'isNull'
  | 'lastModified'
  | 'size'
  | 'etag'
  | 'contentType'
  | 'checksums'
  | 'composite'
  | 'metadata'
  | 'representation'
  | 'masterKeyId'
  | 'customerSeal'
  | 'tags'
  | 'retention'
  | 'legalHold'
>

/** One item makes at most one version, above those of its key that were made before. */
export type RestoreItem =
  | ({ readonly what: 'tenant' } & Pick<TenantRecord, 'dataKey' | 'dedupKey' | 'masterKeyId'>)
  | ({ readonly what: 'bucket'; readonly bucketsMax: number } & Pick<
      BucketRecord,
      'versioning' | 'objectLockEnabled'
    >)
  | ({ readonly what: 'marker' } & Pick<ObjectRecord, 'key' | 'isNull' | 'lastModified'>)
  | ({ readonly what: 'version'; readonly body: PutBody } & RestoredFacts)
  /** Collects the parts of one version, until `assembled`. */
  | { readonly what: 'upload'; readonly key: string; readonly masterKeyId: string }
  | {
      readonly what: 'part'
      readonly key: string
      readonly partNumber: number
      readonly size: number
      readonly checksums: Checksums
      readonly body: PutBody
    }
  /** Gives the upload up: a part is not there. */
  | { readonly what: 'dropped'; readonly key: string }
  /** `parts`: as many as were put. */
  | ({ readonly what: 'assembled'; readonly parts: number } & RestoredFacts)
  /** The bucket is whole: from here on it is one like any other. */
  | ({ readonly what: 'settings' } & BucketSettings)
  /** The tenant is whole. */
  | ({ readonly what: 'limits' } & TenantSettings)

/** Null: it has none. */
export interface BucketSettings {
  readonly defaultRetention: DefaultRetention | null
  readonly policy: string | null
  readonly cors: readonly CorsRule[] | null
  readonly lifecycle: readonly LifecycleRule[] | null
  readonly tags: Readonly<Record<string, string>> | null
}

export interface TenantSettings {
  readonly quota: Omit<QuotaRecord, 'updatedAt'> | null
  readonly limits: Omit<TenantLimitsRecord, 'updatedAt'> | null
}

export interface RestoringCommand {
  readonly type: 'restoreStep'
  readonly operationId: string
  /** Compare and set of the cursor: what was restored and the place behind it change in one entry, so nothing is restored twice. */
  readonly from: string
  readonly cursor: string
  readonly phase: string
  readonly counted: Partial<Omit<LongOperationProgress, 'tasksOpen'>>
  /** In the tenant of the operation. Empty for items that concern no bucket. */
  readonly bucket: string
  readonly items: readonly RestoreItem[]
  /** Versions that do not come back. */
  readonly missing: readonly MissingVersion[]
}

export interface RestoringReplies {
  restoreStep: LongOperation
}
