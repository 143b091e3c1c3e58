/**
 * Commands about tenants, their access keys and accounts, and admin tokens, and their replies.
 */
import type { AccessKeyId, AccountId, TenantId } from '../base/record-ids.ts'
import type { AdminRole } from '../base/origin.ts'
import type {
  AccessKeyRecord,
  AccountRecord,
  AdminTokenRecord,
  AdminUser,
  CallerBinding,
  ClusterKeyRecord,
  TenantRecord,
} from './records.ts'

export type TenantCommand =
  | { readonly type: 'setClusterKey'; readonly masterKeyFingerprint: string }
  | {
      readonly type: 'createTenant'
      readonly id: TenantId
      readonly name: string
      readonly dataKey: Uint8Array
      readonly dedupKey: Uint8Array
      readonly masterKeyId: string
    }
  | {
      readonly type: 'createAccessKey'
      readonly accessKeyId: AccessKeyId
      readonly tenantId: TenantId
      readonly accountId: AccountId | null
      readonly name: string | null
      readonly scopes: string
      readonly secret: Uint8Array
      readonly expiresAt: number | null
      /** Absent: usable from everywhere. */
      readonly boundTo?: CallerBinding
    }
  | {
      readonly type: 'rotateAccessKey'
      readonly accessKeyId: AccessKeyId
      readonly tenantId: TenantId
      readonly secret: Uint8Array
      readonly scopes: string | null
      /** undefined is not plain data: null keeps the present expiry, 0 clears it. */
      readonly expiresAt: number | null
      /** Absent: keeps the present one. With two empty lists it clears it. */
      readonly boundTo?: CallerBinding
    }
  | {
      readonly type: 'revokeAccessKey'
      readonly accessKeyId: AccessKeyId
      readonly tenantId: TenantId
      readonly reason: string
    }
  | {
      readonly type: 'createAccount'
      readonly tenantId: TenantId
      readonly name: string
      readonly description: string
    }
  /** When keys and tokens were last used on some node. */
  | {
      readonly type: 'noteUses'
      readonly accessKeys: readonly { readonly accessKeyId: AccessKeyId; readonly at: number }[]
      readonly adminTokens: readonly { readonly tokenId: string; readonly at: number }[]
    }
  | {
      readonly type: 'createAdminToken'
      readonly tokenId: string
      readonly name: string
      readonly role: AdminRole
      readonly tenantId: TenantId | null
      readonly expiresAt: number | null
      readonly sha256: string
      /** Absent: the role decides whether it makes access keys. */
      readonly noKeys?: true
      /** Absent: usable from everywhere. */
      readonly boundTo?: CallerBinding
    }
  | { readonly type: 'revokeAdminToken'; readonly tokenId: string }
  | {
      readonly type: 'openAdminSession'
      readonly tokenId: string
      /** Of the user, for people. */
      readonly name: string
      readonly role: AdminRole
      readonly tenantId: TenantId | null
      readonly noKeys?: true
      readonly user: AdminUser
      readonly idleMs: number
      readonly endsAt: number
      readonly sha256: string
    }
  | {
      readonly type: 'renewAdminSession'
      readonly tokenId: string
      /** Of the secret that was shown. */
      readonly formerSha256: string
      readonly sha256: string
    }
  /** `tokenId` null: all sessions of the user. */
  | { readonly type: 'endAdminSessions'; readonly userId: string; readonly tokenId: string | null }

export interface TenantReplies {
  setClusterKey: ClusterKeyRecord
  createTenant: TenantRecord
  createAccessKey: AccessKeyRecord
  rotateAccessKey: AccessKeyRecord
  revokeAccessKey: AccessKeyRecord
  createAccount: AccountRecord
  noteUses: { readonly noted: number }
  createAdminToken: AdminTokenRecord
  revokeAdminToken: AdminTokenRecord
  openAdminSession: AdminTokenRecord
  renewAdminSession: AdminTokenRecord
  endAdminSessions: { readonly ended: number }
}
