/**
 * Commands about buckets, their policies, CORS rules and tags, and their replies.
 */
import type { ApprovalUse } from '../approvals/commands.ts'
import type { TenantId } from '../base/record-ids.ts'
import type {
  BucketPolicyRecord,
  BucketRecord,
  BucketTagsRecord,
  CorsRecord,
  DefaultRetention,
} from './records.ts'

export type BucketCommand =
  | {
      readonly type: 'createBucket'
      readonly tenantId: TenantId
      readonly name: string
      readonly bucketsMax: number
      readonly versioning: BucketRecord['versioning']
      readonly objectLockEnabled: boolean
      /** Absent: a client makes it. */
      readonly replicaOf?: string
    }
  | {
      readonly type: 'setBucketVersioning'
      readonly tenantId: TenantId
      readonly name: string
      readonly versioning: BucketRecord['versioning']
    }
  /** Switches object lock on, which is never undone, and replaces the default retention; null: there is none from now on. */
  | {
      readonly type: 'setBucketObjectLock'
      readonly tenantId: TenantId
      readonly name: string
      readonly defaultRetention: DefaultRetention | null
    }
  /** `policy`: JSON that the gateway has checked. */
  | {
      readonly type: 'setBucketPolicy'
      readonly tenantId: TenantId
      readonly name: string
      readonly policy: string
      /** Absent: none was required. */
      readonly approval?: ApprovalUse
    }
  | {
      readonly type: 'deleteBucketPolicy'
      readonly tenantId: TenantId
      readonly name: string
      /** Absent: none was required. */
      readonly approval?: ApprovalUse
    }
  | ({ readonly type: 'setBucketCors'; readonly tenantId: TenantId; readonly name: string } & CorsRecord)
  | { readonly type: 'deleteBucketCors'; readonly tenantId: TenantId; readonly name: string }
  /** All tags are replaced; none: the row goes. */
  | ({
      readonly type: 'setBucketTags'
      readonly tenantId: TenantId
      readonly name: string
    } & BucketTagsRecord)

export interface BucketReplies {
  createBucket: BucketRecord
  setBucketVersioning: BucketRecord
  setBucketObjectLock: BucketRecord
  setBucketPolicy: BucketPolicyRecord
  deleteBucketPolicy: null
  setBucketCors: CorsRecord
  deleteBucketCors: null
  setBucketTags: BucketTagsRecord
}
