/**
 * Rows of tenants, their access keys and accounts, and of admin tokens.
 */
import type { AdminRole } from '../base/origin.ts'
import type { AccessKeyId, AccountId, TenantId } from '../base/record-ids.ts'

/** Active ones, expired or not: one entry can revoke them all. */
export const ACCESS_KEYS_PER_TENANT_MAX = 1_000

/** Beyond them the key that was revoked first is forgotten. */
export const REVOKED_KEYS_KEPT_MAX = 1_000

export const ACCOUNTS_PER_TENANT_MAX = 1_000

/** Of keys and tokens together, in one entry. */
export const USES_PER_ENTRY_MAX = 1_000

export interface TenantRecord {
  readonly id: TenantId
  readonly name: string
  /** Only ever the next one. */
  readonly status: 'active' | 'disabled' | 'deleting' | 'deleted'
  readonly createdAt: number
  readonly disabledAt: number | null
  readonly disabledReason: string | null
  /** Sealed under the master key: the key that derives chunk keys, and the key of the chunk ids. Empty once shredded. */
  readonly dataKey: Uint8Array
  readonly dedupKey: Uint8Array
  /** Which master key sealed them. */
  readonly masterKeyId: string
  readonly bucketCount: number
  /** The operation that deletes it, or did. Absent: nobody asked for that. */
  readonly deletion?: string
  /** Absent: it is not deleted. */
  readonly deletedAt?: number
}

export interface AccessKeyRecord {
  readonly accessKeyId: AccessKeyId
  readonly tenantId: TenantId
  /** Of this tenant; null: it belongs to none. Never changes. */
  readonly accountId: AccountId | null
  readonly name: string | null
  /** Verbatim, as the caller gave it. */
  readonly scopes: string
  /** Sealed under the master key. */
  readonly secret: Uint8Array
  readonly status: 'active' | 'revoked'
  /** Rises with every rotation; tokens carry it. */
  readonly version: number
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly rotatedAt: number | null
  readonly revokedAt: number | null
  readonly revokedReason: string | null
  /** To about an hour: uses.ts. Null: never. */
  readonly lastUsedAt: number | null
}

/** Whom keys belong to: a program, a machine. It holds no right of its own. */
export interface AccountRecord {
  readonly accountId: AccountId
  readonly tenantId: TenantId
  /** No other account of the tenant has it. */
  readonly name: string
  readonly description: string
  readonly createdAt: number
  /** Its active keys, counted in the entries that make and revoke them. */
  readonly keyCount: number
}

/** One row a tenant, because apply reads single rows and is to find all keys of a tenant. Each key is in one of the lists. */
export interface TenantAccessRecord {
  readonly accountCount: number
  /** In the order in which they were made; at most ACCESS_KEYS_PER_TENANT_MAX. */
  readonly activeKeys: readonly AccessKeyId[]
  /** In the order in which they were revoked; at most REVOKED_KEYS_KEPT_MAX. */
  readonly revokedKeys: readonly AccessKeyId[]
}

export interface AdminTokenRecord {
  readonly tokenId: string
  readonly name: string
  readonly role: AdminRole
  readonly tenantId: TenantId | null
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  /** To about an hour: uses.ts. Null: never. */
  readonly lastUsedAt: number | null
  /** SHA-256 of the whole token, lower-case hex. The token itself is stored nowhere. */
  readonly sha256: string
}

/** The one row that says which master key this cluster seals with. */
export interface ClusterKeyRecord {
  readonly masterKeyFingerprint: string
  /** By node: the master keys it has, the one it wants first. Absent before the first node said so. */
  readonly holders?: Readonly<Record<string, readonly string[]>>
}

export type SealedTenantKeys = Pick<TenantRecord, 'dataKey' | 'dedupKey'>
