/**
 * Commands about lifecycle rules, and their replies.
 */
import type { BucketId, TenantId, VersionId } from '../base/record-ids.ts'
import type { LifecycleRecord, LifecycleRule } from './records.ts'

/** What a rule is to act on, by the names in its row key. */
export type LifecycleItem =
  | { readonly key: string; readonly versionId: VersionId }
  | { readonly key: string; readonly uploadId: string }

export type LifecycleCommand =
  /** Replaces all rules; the gateway has checked them. */
  | {
      readonly type: 'setBucketLifecycle'
      readonly tenantId: TenantId
      readonly name: string
      readonly rules: readonly LifecycleRule[]
    }
  | { readonly type: 'deleteBucketLifecycle'; readonly tenantId: TenantId; readonly name: string }
  /** Each item is decided again: what the rule does not name at this index, or what is locked, stays. */
  | {
      readonly type: 'applyLifecycleRule'
      readonly tenantId: TenantId
      readonly bucket: string
      readonly bucketId: BucketId
      readonly ruleId: string
      readonly items: readonly LifecycleItem[]
    }
  /**
   * The walk of the bucket that had this turn and these rules is through; it judged by `judgedAt`, a confirmed time. The next turn is at the
   * midnight behind that. Changes nothing when the rules were set since, or the turn was moved by another node.
   */
  | {
      readonly type: 'endLifecycleWalk'
      readonly tenantId: TenantId
      readonly bucket: string
      readonly bucketId: BucketId
      readonly turnAt: number
      readonly revision: number
      readonly judgedAt: number
    }

/**
 * `expired`: a current object of a bucket without versions is gone. `hidden`: one of a bucket with versions has a delete marker. `noncurrent`: a
 * noncurrent version is gone. `marker`: a delete marker under which nothing was left. `upload`: an upload is aborted.
 */
export type LifecycleKind = 'expired' | 'hidden' | 'noncurrent' | 'marker' | 'upload'

/** What became of one item. */
export interface LifecycleDone {
  readonly kind: LifecycleKind
  readonly key: string
  /** The version that is gone or hidden, as clients name it; of an upload its id. */
  readonly id: string
  /** Bytes that count no more. */
  readonly bytes: number
  /** The delete marker that hides it. Absent: none was made. */
  readonly markerId?: VersionId
}

export interface LifecycleReplies {
  setBucketLifecycle: LifecycleRecord
  deleteBucketLifecycle: null
  /** `kept`: items that the rule does not name any more, that are locked, or gone. */
  applyLifecycleRule: { readonly done: readonly LifecycleDone[]; readonly kept: number }
  endLifecycleWalk: null
}
