/** Ids of records. Flavoured types: a plain string is assignable to each of them, none of them to another. */
export type TenantId = string & { readonly flavour?: 'TenantId' }

export type BucketId = string & { readonly flavour?: 'BucketId' }

export type AccessKeyId = string & { readonly flavour?: 'AccessKeyId' }

export type AccountId = string & { readonly flavour?: 'AccountId' }

/** 26 characters, Crockford base32, ascending in the order of the log. */
export type VersionId = string & { readonly flavour?: 'VersionId' }

/** 16 random characters, made by the gateway. */
export type HookId = string & { readonly flavour?: 'HookId' }

/** HMAC-SHA256(tenant dedup key, plaintext of the chunk), lower-case hex. */
export type ChunkId = string & { readonly flavour?: 'ChunkId' }

/** Owns the chunks of audit segments. No tenant can have this id: ids of tenants contain no dot. */
export const AUDIT_OWNER: TenantId = '.audit'
