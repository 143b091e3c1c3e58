/**
 * Rows of buckets, their policies and their CORS rules.
 */
import type { BucketId, TenantId } from '../base/record-ids.ts'

/** Of a bucket policy as JSON. */
export const BUCKET_POLICY_BYTES_MAX = 20 * 1024

export interface BucketPolicyRecord {
  /** JSON, as it was accepted. */
  readonly policy: string
  readonly updatedAt: number
}

export interface BucketRecord {
  /** Unique for ever: a bucket made again under the same name has another id, so old rows can never reappear in it. */
  readonly id: BucketId
  readonly tenantId: TenantId
  readonly name: string
  readonly createdAt: number
  readonly versioning: 'Unversioned' | 'Enabled' | 'Suspended'
  readonly objectLockEnabled: boolean
  /** It has a row of notifications; absent: nobody is told of what happens in it. */
  readonly hasNotifications?: true
  /** Keys whose newest version is an object. */
  readonly objectCount: number
  /** All versions that are objects, the current ones too. */
  readonly versionCount: number
  readonly deleteMarkerCount: number
  /** Of all versions. */
  readonly logicalBytes: number
  /** Multipart uploads that are neither completed nor aborted, and the bytes of their parts. */
  readonly uploadCount: number
  readonly uploadBytes: number
  /** It has a cors row. Absent: it has none. */
  readonly hasCors?: true
}

export type CorsMethod = 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'

/** Patterns hold at most one `*`. null: the member was not given. */
export interface CorsRule {
  readonly id: string | null
  readonly allowedOrigins: readonly string[]
  readonly allowedMethods: readonly CorsMethod[]
  readonly allowedHeaders: readonly string[] | null
  readonly exposeHeaders: readonly string[] | null
  readonly maxAgeSeconds: number | null
}

/** Which pages of other origins a browser may let read what is in the bucket. The first rule that fits decides. */
export interface CorsRecord {
  readonly rules: readonly CorsRule[]
}
