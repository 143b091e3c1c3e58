/**
 * Commands about the replication of buckets to another site, and their replies.
 */
import type { BucketId, TenantId, VersionId } from '../base/record-ids.ts'
import type {
  SiteRecord,
  SiteRule,
  SiteStateRecord,
  SiteTarget,
  TenantSiteRecord,
  TenantSiteTarget,
} from './records.ts'

/**
 * What became of one attempt. `sent`: it is there. `skipped`: it is not needed any more. `conflict`: a later change of the target stays.
 * `failed`: to be tried again, a bounded number of times. `refused`: trying again would not help. `unreachable`: the target as a whole did not
 * answer, or not to these credentials; the change itself counts no attempt.
 */
export type SendVerdict = 'sent' | 'skipped' | 'conflict' | 'failed' | 'refused' | 'unreachable'

export interface SendResult {
  readonly bucketId: BucketId
  readonly changeId: VersionId
  /** Attempts before this one: a result that is reported again does not count twice. */
  readonly attempts: number
  readonly verdict: SendVerdict
  /** Null: it succeeded. */
  readonly error: string | null
  /** The `Retry-After` of the target. */
  readonly retryAfterMs: number | null
  /** A random number of the sending node, [-1, 1]. */
  readonly jitter: number
}

export type SiteCommand =
  /** Replaces target and rules; the gateway has checked them. What waits goes to the new target. */
  | {
      readonly type: 'setBucketReplication'
      readonly tenantId: TenantId
      readonly name: string
      /** The secret is sealed for this bucket. */
      readonly bucketId: BucketId
      readonly target: SiteTarget
      readonly secret: Uint8Array
      readonly rules: readonly SiteRule[]
      /** Whether what the bucket holds is queued too. */
      readonly existing: boolean
    }
  | { readonly type: 'deleteBucketReplication'; readonly tenantId: TenantId; readonly name: string }
  | { readonly type: 'startResync'; readonly tenantId: TenantId; readonly name: string }
  /** Makes changes that were given up wait again, due now, with all attempts left. */
  | {
      readonly type: 'retrySiteChanges'
      readonly tenantId: TenantId
      readonly name: string
      readonly changeIds: readonly VersionId[]
    }
  | { readonly type: 'recordSends'; readonly results: readonly SendResult[] }
  /** One page of a resync: `place` is where it was, `next` where it is then; null: it is through. */
  | {
      readonly type: 'queueExisting'
      readonly bucketId: BucketId
      readonly resyncId: number
      readonly place: string
      readonly next: string | null
      readonly items: readonly { readonly key: string; readonly versionId: VersionId }[]
    }
  /** Only of a bucket whose replication was removed. */
  | {
      readonly type: 'forgetSiteChanges'
      readonly bucketId: BucketId
      readonly changeIds: readonly VersionId[]
    }
  | {
      readonly type: 'rewrapSiteSecrets'
      readonly items: readonly {
        readonly bucketId: BucketId
        readonly before: Uint8Array
        readonly after: Uint8Array
      }[]
    }

export type TenantSiteCommand =
  /** Replaces what is set; the gateway has checked it. */
  | {
      readonly type: 'setTenantReplication'
      readonly tenantId: TenantId
      readonly target: TenantSiteTarget
      /** Sealed for this tenant. */
      readonly secret: Uint8Array
      readonly rules: readonly SiteRule[]
      readonly createsBuckets: boolean
      readonly existing: boolean
    }
  | { readonly type: 'deleteTenantReplication'; readonly tenantId: TenantId }
  /** A bucket follows the replication of its tenant from now on: its target is there. */
  | {
      readonly type: 'followTenant'
      readonly tenantId: TenantId
      readonly name: string
      readonly bucketId: BucketId
      readonly revision: number
      readonly targetBucket: string
      readonly identity: string | null
      /** Sealed for this bucket. */
      readonly secret: Uint8Array
    }
  /** A bucket cannot follow yet, and why. */
  | {
      readonly type: 'recordWaitingSite'
      readonly tenantId: TenantId
      readonly name: string
      readonly bucketId: BucketId
      readonly revision: number
      readonly error: string
      /** A random number of the proposing node, [-1, 1]. */
      readonly jitter: number
    }
  /** Releases buckets from a replication of the tenant that was removed; with the last of them its row goes. */
  | {
      readonly type: 'leaveTenant'
      readonly tenantId: TenantId
      readonly revision: number
      readonly names: readonly string[]
      readonly isLast: boolean
    }
  | {
      readonly type: 'rewrapTenantSiteSecrets'
      readonly items: readonly {
        readonly tenantId: TenantId
        readonly before: Uint8Array
        readonly after: Uint8Array
      }[]
    }

export interface TenantSiteReplies {
  setTenantReplication: TenantSiteRecord
  deleteTenantReplication: null
  followTenant: SiteRecord
  recordWaitingSite: null
  leaveTenant: { readonly released: number }
  rewrapTenantSiteSecrets: { readonly rewrapped: number }
}

export interface SiteReplies {
  setBucketReplication: SiteRecord
  deleteBucketReplication: null
  startResync: SiteStateRecord
  retrySiteChanges: { readonly retried: number }
  /** How many results were not recorded before. */
  recordSends: { readonly recorded: number }
  queueExisting: { readonly queued: number }
  forgetSiteChanges: { readonly forgotten: number }
  rewrapSiteSecrets: { readonly rewrapped: number }
}
