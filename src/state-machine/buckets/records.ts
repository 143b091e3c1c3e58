/**
 * Rows of buckets, their policies, their CORS rules and their tags.
 */
import type { BucketId, TenantId } from '../base/record-ids.ts'

/** Size of a bucket policy as JSON text. */
export const BUCKET_POLICY_BYTES_MAX = 20 * 1024

export interface BucketPolicyRecord {
  /** JSON, as it was accepted. */
  readonly policy: string
  readonly updatedAt: number
}

/** In whole days, or in years of 365 days each. */
export type DefaultRetention = { readonly mode: 'GOVERNANCE' | 'COMPLIANCE' } & (
  | { readonly days: number }
  | { readonly years: number }
)

export const DEFAULT_RETENTION_YEARS_MAX = 100
export const DEFAULT_RETENTION_DAYS_MAX: number = DEFAULT_RETENTION_YEARS_MAX * 365

export interface BucketRecord {
  /** Never reused: a new bucket of the same name has another id, so old rows can never appear in it. */
  readonly id: BucketId
  readonly tenantId: TenantId
  readonly name: string
  readonly createdAt: number
  readonly versioning: 'Unversioned' | 'Enabled' | 'Suspended'
  readonly objectLockEnabled: boolean
  /** What a new version without a retention of its own gets. Absent: none; always so without object lock. */
  readonly defaultRetention?: DefaultRetention
  /** Present: it has a notifications row. */
  readonly hasNotifications?: true
  /** Keys whose newest version is an object. */
  readonly objectCount: number
  /** All versions that are objects, including the current ones. */
  readonly versionCount: number
  readonly deleteMarkerCount: number
  /** Bytes of all versions. */
  readonly logicalBytes: number
  /** Multipart uploads that are neither completed nor aborted, and the bytes of their parts. */
  readonly uploadCount: number
  readonly uploadBytes: number
  /** Present: it has a cors row. */
  readonly hasCors?: true
  /** Present: it has lifecycle rules. */
  readonly hasLifecycle?: true
  /** The ids of the cluster and the name of the bucket whose replication has made it. Absent: a client has made it. */
  readonly replicaOf?: string
  /** Present: it is replicated to another site. */
  readonly hasReplication?: true
  /** Share of each configuration in the usage of the tenant. Absent: none, it was set below feature level 4 or there is none. */
  readonly configBytes?: Readonly<Partial<Record<BucketConfig, number>>>
  /** The operation that fills it from a backup. Absent: none does. Since level 7. */
  readonly restoring?: string
}

export type BucketConfig = 'policy' | 'cors' | 'notifications' | 'tags' | 'lifecycle' | 'replication'

export type CorsMethod = 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'

/** A pattern contains at most one `*`. null: the request did not have the member. */
export interface CorsRule {
  readonly id: string | null
  readonly allowedOrigins: readonly string[]
  readonly allowedMethods: readonly CorsMethod[]
  readonly allowedHeaders: readonly string[] | null
  readonly exposeHeaders: readonly string[] | null
  readonly maxAgeSeconds: number | null
}

/** Which other origins a browser lets read the bucket. The first rule that matches decides. */
export interface CorsRecord {
  readonly rules: readonly CorsRule[]
}

/** Tags of the bucket itself, never empty. Objects have their own. */
export interface BucketTagsRecord {
  readonly tags: Readonly<Record<string, string>>
}
