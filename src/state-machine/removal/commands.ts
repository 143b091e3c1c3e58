/**
 * The commands by which a tenant ends, and what they answer. commands.ts says what holds for all.
 */
import type { AccessKeyId, TenantId, VersionId } from '../base/record-ids.ts'
import type { OperationRecord } from '../operations/records.ts'
import type { TenantRecord } from '../tenants/records.ts'

export type RemovalCommand =
  | { readonly type: 'deleteBucket'; readonly tenantId: TenantId; readonly name: string }
  /** Its active access keys are revoked in the same entry. */
  | { readonly type: 'disableTenant'; readonly tenantId: TenantId; readonly reason: string }
  /**
   * Begins the deletion of a disabled tenant. `locksEndedBy`: the gateway has looked at every lock, and the last of them
   * ended then, ms; 0: there was none.
   */
  | {
      readonly type: 'deleteTenant'
      readonly tenantId: TenantId
      readonly operationId: string
      readonly requestedBy: string
      readonly reason: string
      readonly locksEndedBy: number
    }
  /** One step of a deletion. What is gone already is skipped. */
  | {
      readonly type: 'eraseTenant'
      readonly tenantId: TenantId
      readonly operationId: string
      readonly step: EraseStep
    }
  /** The last step: refused while anything is left that a key could open. */
  | { readonly type: 'shredTenant'; readonly tenantId: TenantId; readonly operationId: string }

export type EraseStep =
  | { readonly kind: 'content'; readonly bucket: string; readonly items: readonly ErasedItem[] }
  /** Refused while it holds anything. */
  | { readonly kind: 'bucket'; readonly bucket: string }
  | {
      readonly kind: 'access'
      readonly accessKeyIds: readonly AccessKeyId[]
      readonly accountIds: readonly string[]
    }

/** Something that a bucket holds, by the names that its row lies under. */
export type ErasedItem =
  | { readonly kind: 'version'; readonly key: string; readonly versionId: VersionId }
  | { readonly kind: 'upload'; readonly key: string; readonly uploadId: string }
  | { readonly kind: 'idempotency'; readonly key: string; readonly name: string }
  | { readonly kind: 'completed'; readonly key: string; readonly uploadId: string }

export interface RemovalReplies {
  deleteBucket: null
  /** `revoked`: the access keys that were active until then. */
  disableTenant: { readonly tenant: TenantRecord; readonly revoked: readonly AccessKeyId[] }
  deleteTenant: OperationRecord
  /** As it stands afterwards. */
  eraseTenant: OperationRecord
  shredTenant: TenantRecord
}
