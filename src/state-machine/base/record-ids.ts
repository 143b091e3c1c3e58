/** What records are known by. Flavours: a plain string passes for any of them, one of them for no other. */
export type TenantId = string & { readonly flavour?: 'TenantId' }

export type BucketId = string & { readonly flavour?: 'BucketId' }

export type AccessKeyId = string & { readonly flavour?: 'AccessKeyId' }

export type AccountId = string & { readonly flavour?: 'AccountId' }

/** 26 characters, Crockford base32, ascending in the order of the log. */
export type VersionId = string & { readonly flavour?: 'VersionId' }

/** 16 characters, drawn by the gateway. */
export type HookId = string & { readonly flavour?: 'HookId' }

/** HMAC-SHA256(tenant dedup key, plaintext of the chunk), lower-case hex. */
export type ChunkId = string & { readonly flavour?: 'ChunkId' }

/** Owns the chunks of segments. No tenant can have this id: theirs have no dot. */
export const AUDIT_OWNER: TenantId = '.audit'
