/**
 * Commands that remove buckets and tenants, and their replies.
 */
import type { ApprovalUse } from '../approvals/commands.ts'
import type { AccessKeyId, TenantId, VersionId } from '../base/record-ids.ts'
import type { LongOperation } from '../long-operations/records.ts'
import type { TenantRecord } from '../tenants/records.ts'

export type RemovalCommand =
  | { readonly type: 'deleteBucket'; readonly tenantId: TenantId; readonly name: string }
  /** Its active access keys are revoked in the same entry. */
  | { readonly type: 'disableTenant'; readonly tenantId: TenantId; readonly reason: string }
  /**
   * Starts the deletion of a disabled tenant. `locksEndedBy`: the time in ms at which the last lock ended; the gateway has
   * read every lock. 0: there was none.
   */
  | {
      readonly type: 'deleteTenant'
      readonly tenantId: TenantId
      readonly operationId: string
      readonly requestedBy: string
      readonly reason: string
      readonly locksEndedBy: number
      /** Absent: none was required. */
      readonly approval?: ApprovalUse
    }
  /** One step of a deletion. Items that are gone already are skipped. */
  | {
      readonly type: 'eraseTenant'
      readonly tenantId: TenantId
      readonly operationId: string
      readonly step: EraseStep
    }
  /** The last step: refused while anything is left that the tenant's keys could open. */
  | { readonly type: 'shredTenant'; readonly tenantId: TenantId; readonly operationId: string }

export type EraseStep =
  | { readonly kind: 'content'; readonly bucket: string; readonly items: readonly ErasedItem[] }
  /** Refused while the bucket is not empty. */
  | { readonly kind: 'bucket'; readonly bucket: string }
  | {
      readonly kind: 'access'
      readonly accessKeyIds: readonly AccessKeyId[]
      readonly accountIds: readonly string[]
    }

/** An item in a bucket, by the names in its row key. */
export type ErasedItem =
  | { readonly kind: 'version'; readonly key: string; readonly versionId: VersionId }
  | { readonly kind: 'upload'; readonly key: string; readonly uploadId: string }
  | { readonly kind: 'idempotency'; readonly key: string; readonly name: string }
  | { readonly kind: 'completed'; readonly key: string; readonly uploadId: string }

export interface RemovalReplies {
  deleteBucket: null
  /** `revoked`: the access keys that this command revoked. */
  disableTenant: { readonly tenant: TenantRecord; readonly revoked: readonly AccessKeyId[] }
  deleteTenant: LongOperation
  /** The operation after the step. */
  eraseTenant: LongOperation
  shredTenant: TenantRecord
}
