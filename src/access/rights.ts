/**
 * What an operation requires of its caller. Each operation states its own rights where it is defined. [decisions 14: verb -> operation]
 *
 * Owns: the forms that rights can take. Knows nothing of: which operations there are; how rights are decided (authorize.ts).
 */
import type { AdminRole } from '../state-machine/base/origin.ts'
import type { Verb } from './base/principal.ts'
import type { UrlCoverage } from './base/signed-url.ts'
import type { S3Action } from './policies/s3-actions.ts'

/**
 * What a scope must cover for an access key to pass:
 *  - tenant: nothing in particular, any scope with the verb is enough; the answer is filtered by scope;
 *  - bucket: the bucket, regardless of the scope's prefix;
 *  - whole-bucket: the bucket, by a scope without prefix, because the operation reaches all of its keys;
 *  - key: the bucket and the object key, or the prefix of a listing, which must lie inside the scope's prefix.
 */
export type Reach = 'tenant' | 'bucket' | 'whole-bucket' | 'key'

/**
 * Which targets an admin token of one tenant may name:
 *  - one-tenant: the target, if it is that tenant;
 *  - own-tenants: always allowed, the answer is filtered to that tenant;
 *  - cluster: none; only a token without tenant passes.
 */
export type AdminReach = 'one-tenant' | 'own-tenants' | 'cluster'

interface NoRequirement {
  readonly kind: 'none'
}

export interface KeyRequirement {
  readonly kind: 'accessKey'
  /** All of them are required; none: no verb in particular. */
  readonly verbs: readonly Verb[]
  /** What a scope of each verb must cover. */
  readonly reach: Reach
}

export interface AdminRequirement {
  readonly kind: 'adminToken'
  readonly role: AdminRole
  readonly reach: AdminReach
  /** It answers the secret of an access key, which tokens can be made to withhold. */
  readonly givesSecret: boolean
}

export type Requirement = NoRequirement | KeyRequirement | AdminRequirement

export const NOTHING: NoRequirement = { kind: 'none' }

/** `verbs` null: no verb in particular. */
export function accessKey(verbs: Verb | readonly Verb[] | null, reach: Reach): KeyRequirement {
  const all = typeof verbs === 'string' ? [verbs] : (verbs ?? [])
  return { kind: 'accessKey', verbs: all, reach }
}

export function adminToken(role: AdminRole, reach: AdminReach): AdminRequirement {
  return { kind: 'adminToken', role, reach, givesSecret: false }
}

/** Of an operation that answers the secret of an access key. */
export function adminTokenForKeys(role: AdminRole, reach: AdminReach): AdminRequirement {
  return { ...adminToken(role, reach), givesSecret: true }
}

/** Of an operation of the data plane. */
export interface DataRights extends UrlCoverage {
  readonly requires: NoRequirement | KeyRequirement
  /** What a bucket policy calls the operation; null: no policy of a bucket can name it. */
  readonly s3Action: S3Action | null
}

/** Of an operation of the admin plane. */
export interface AdminRights {
  /** Names the operation in the API documents, the audit log, the metrics and in refusals. */
  readonly id: string
  readonly requires: NoRequirement | AdminRequirement
}

export type Rights = DataRights | AdminRights
