/**
 * Rows of buckets, their policies and their CORS rules.
 */
import type { BucketId, TenantId } from '../base/record-ids.ts'

/** Size of a bucket policy as JSON text. */
export const BUCKET_POLICY_BYTES_MAX = 20 * 1024

export interface BucketPolicyRecord {
  /** JSON, as it was accepted. */
  readonly policy: string
  readonly updatedAt: number
}

export interface BucketRecord {
  /** Never reused: a new bucket of the same name has another id, so old rows can never appear in it. */
  readonly id: BucketId
  readonly tenantId: TenantId
  readonly name: string
  readonly createdAt: number
  readonly versioning: 'Unversioned' | 'Enabled' | 'Suspended'
  readonly objectLockEnabled: boolean
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
  /** Share of each configuration in the usage of the tenant. Absent: none, it was set below feature level 4 or there is none. */
  readonly configBytes?: Readonly<Partial<Record<BucketConfig, number>>>
}

export type BucketConfig = 'policy' | 'cors' | 'notifications'

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
