/**
 * Rows of tenants, their access keys and accounts, and of admin tokens.
 */
import type { AdminRole } from '../base/origin.ts'
import type { AccessKeyId, AccountId, TenantId } from '../base/record-ids.ts'

/** Active keys, expired or not; bounded so that one entry can revoke all of them. */
export const ACCESS_KEYS_PER_TENANT_MAX = 1_000

/** With more revoked keys the one that was revoked first is removed. */
export const REVOKED_KEYS_KEPT_MAX = 1_000

export const ACCOUNTS_PER_TENANT_MAX = 1_000

/** Uses of keys and tokens together in one entry. */
export const USES_PER_ENTRY_MAX = 1_000

/** Open sessions of people in the cluster. */
export const ADMIN_SESSIONS_MAX = 512

/** Of them, of one user. */
export const ADMIN_SESSIONS_PER_USER_MAX = 10

/** Rows of sessions that have ended and are removed by one command. */
export const ENDED_SESSIONS_PER_STEP = 8

/** How long the secret before a renewal counts. ms */
export const FORMER_SECRET_MS = 60_000

export interface TenantRecord {
  readonly id: TenantId
  readonly name: string
  /** Changes only to the next status in this order. */
  readonly status: 'active' | 'disabled' | 'deleting' | 'deleted'
  readonly createdAt: number
  readonly disabledAt: number | null
  readonly disabledReason: string | null
  /** Sealed under the master key: the key from which chunk keys are derived, and the key of chunk ids. Empty once shredded. */
  readonly dataKey: Uint8Array
  readonly dedupKey: Uint8Array
  /** The master key that sealed them. */
  readonly masterKeyId: string
  /** Rises with every exchange of `dataKey`. Absent: 1, it was never exchanged. */
  readonly dataKeyVersion?: number
  /** When `dataKey` became the key of new writes. Absent: with the tenant. */
  readonly dataKeySince?: number
  /** The data key before, while an exchange is unfinished: something may still be sealed with it. Absent: nothing is. */
  readonly formerKey?: FormerKey
  readonly bucketCount: number
  /** The operation that deletes or deleted it. Absent: no deletion was requested. */
  readonly deletion?: string
  /** Absent: not deleted. */
  readonly deletedAt?: number
  /** The operation that fills it from a backup. Absent: none does. Since level 7. */
  readonly restoring?: string
}

export interface FormerKey {
  readonly version: number
  /** Sealed under the master key. */
  readonly dataKey: Uint8Array
  /** The operation that seals with the present key what this one seals. */
  readonly operation: string
}

/** What is sealed with the present data key of a tenant. Only while it has a former one. */
export interface SealedRecord {
  readonly chunks: number
  /** Sealed bytes of these chunks, each once. */
  readonly storedBytes: number
  readonly inlineBytes: number
}

/** From where a credential may be used: where a list is not empty, an entry of it must hold. */
export interface CallerBinding {
  /** Addresses and ranges, such as 203.0.113.0/24; empty: any. */
  readonly addresses: readonly string[]
  /** `sha256:` and the digest of a client certificate in lower-case hex, or `cn:` and its common name; empty: any, or none. */
  readonly certificates: readonly string[]
}

export interface AccessKeyRecord {
  readonly accessKeyId: AccessKeyId
  readonly tenantId: TenantId
  /** An account of this tenant; null: none. Never changes. */
  readonly accountId: AccountId | null
  readonly name: string | null
  /** Verbatim from the request. */
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
  /** Absent: usable from everywhere. */
  readonly boundTo?: CallerBinding
}

/** A program or machine that owns access keys. It has no rights of its own. */
export interface AccountRecord {
  readonly accountId: AccountId
  readonly tenantId: TenantId
  /** Unique within the tenant. */
  readonly name: string
  readonly description: string
  readonly createdAt: number
  /** Number of its active keys, counted in the entries that make and revoke them. */
  readonly keyCount: number
}

/** One row per tenant, because apply reads only single rows and has to find all keys of a tenant. Each key is in one of the lists. */
export interface TenantAccessRecord {
  readonly accountCount: number
  /** In the order of creation; at most ACCESS_KEYS_PER_TENANT_MAX. */
  readonly activeKeys: readonly AccessKeyId[]
  /** In the order of revocation; at most REVOKED_KEYS_KEPT_MAX. */
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
  /** It makes no access key and rotates none, whatever its role. Absent: the role decides. */
  readonly noKeys?: true
  /** Absent: usable from everywhere. */
  readonly boundTo?: CallerBinding
  /** A person logged in with it, in a browser. Absent: a token of the command line. Since level 7. */
  readonly session?: AdminSession
}

/** Who logged in, as the identity provider says. */
export interface AdminUser {
  /** Made of issuer and subject, so that it is the same at each log-in. */
  readonly id: string
  /** URL of the provider. */
  readonly issuer: string
  /** How the provider names the person; it never changes, as the name may. */
  readonly subject: string
}

export interface AdminSession {
  readonly user: AdminUser
  /** It ends when it is not renewed for this long. */
  readonly idleMs: number
  /** It ends then at the latest. */
  readonly endsAt: number
  /** The secret before the last renewal. Absent: there was none. */
  readonly former?: { readonly sha256: string; readonly until: number }
}

/** One row, because apply reads only single rows and has to bound their number. Oldest first. */
export interface AdminSessionsRecord {
  readonly sessions: readonly ListedSession[]
}

export interface ListedSession {
  readonly tokenId: string
  readonly userId: string
}

/** The one row that names the master key with which this cluster seals. */
export interface ClusterKeyRecord {
  readonly masterKeyFingerprint: string
  /** By node: its master keys, the one that it wants to seal with first. Absent until a node has announced its keys. */
  readonly holders?: Readonly<Record<string, readonly string[]>>
}

export interface SealedTenantKeys extends Pick<TenantRecord, 'dataKey' | 'dedupKey'> {
  /** That of `formerKey`. Absent: the tenant has none. */
  readonly formerDataKey?: Uint8Array
}
