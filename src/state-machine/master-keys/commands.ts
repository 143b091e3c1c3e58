/**
 * Commands that rotate the master key and replace secrets sealed under it, and their replies.
 */
import type { ClusterKeyRecord, SealedTenantKeys } from '../tenants/records.ts'
import type { AccessKeyId, BucketId, HookId, TenantId } from '../base/record-ids.ts'

export type MasterKeyCommand =
  /** The master keys that this node has; first the one that it wants to seal with. */
  | {
      readonly type: 'announceMasterKeys'
      readonly nodeId: string
      readonly fingerprints: readonly string[]
    }
  /** `nodes`: all members; each must have announced `to` as its first key. */
  | {
      readonly type: 'advanceClusterKey'
      readonly from: string
      readonly to: string
      readonly nodes: readonly string[]
    }
  | {
      readonly type: 'rewrapTenantKeys'
      readonly masterKeyId: string
      readonly items: readonly {
        readonly tenantId: TenantId
        readonly before: SealedTenantKeys
        readonly after: SealedTenantKeys
      }[]
    }
  | {
      readonly type: 'rewrapAccessKeys'
      readonly items: readonly {
        readonly accessKeyId: AccessKeyId
        readonly before: Uint8Array
        readonly after: Uint8Array
      }[]
    }
  | {
      readonly type: 'rewrapHookSecrets'
      readonly items: readonly {
        readonly bucketId: BucketId
        readonly hookId: HookId
        readonly before: Uint8Array
        readonly after: Uint8Array
      }[]
    }

export interface MasterKeyReplies {
  announceMasterKeys: ClusterKeyRecord
  advanceClusterKey: ClusterKeyRecord
  rewrapTenantKeys: { readonly rewrapped: number }
  rewrapAccessKeys: { readonly rewrapped: number }
  rewrapHookSecrets: { readonly rewrapped: number }
}
