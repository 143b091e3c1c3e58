/**
 * Rows of the replication of buckets to another site: where to, what, and what is not there yet. [docs/adr/0090-replication-to-a-second-site.md]
 *
 * Owns: the shapes and their bounds. Rule: a bound that apply decides by is here, because it must be the same on every node.
 */
import type { BucketId, TenantId, VersionId } from '../base/record-ids.ts'
import type { Tags } from '../versions/records.ts'

export const SITE_RULES_MAX = 100
/** Rows of one bucket that wait or are given up. Further changes are counted as dropped: a write is never refused because a target is down. */
export const SITE_CHANGES_MAX = 500_000

/**
 * `none`: nothing that is deleted here is deleted there. `markers`: deletions that name no version, which make a delete marker in a bucket with
 * versions. `all`: also versions that are removed by their id.
 */
export type SiteDeletes = 'none' | 'markers' | 'all'

export interface SiteRule {
  /** One of its kind in the bucket. */
  readonly id: string
  readonly isEnabled: boolean
  /** Empty: all keys. */
  readonly prefix: string
  /** All of them have to be there. Empty: any. */
  readonly tags: Tags
  readonly deletes: SiteDeletes
}

export interface SiteTarget {
  /** Without a path beyond the root of the store, such as `https://s3.example.net`. */
  readonly endpoint: string
  readonly bucket: string
  readonly region: string
  /** The bucket is part of the name of the host. */
  readonly isVirtualHost: boolean
  readonly accessKeyId: string
  /** Ids of cluster and bucket, which decide between two changes of one second. Null: it is no Holdfast. */
  readonly identity: string | null
}

/** Present exactly while the bucket has `hasReplication`. */
export interface SiteRecord {
  readonly tenantId: TenantId
  readonly bucketId: BucketId
  /** The name of the bucket. */
  readonly bucket: string
  readonly target: SiteTarget
  /** The secret of the access key of the target, sealed under the master key. */
  readonly secret: Uint8Array
  /** The first that is enabled and names a change decides about it. */
  readonly rules: readonly SiteRule[]
  readonly updatedAt: number
  /** Index in the log of the entry that set it. */
  readonly revision: number
  /** The revision of the replication of its tenant that it follows. Absent: it is the bucket's own. */
  readonly ofTenant?: number
}

/** Of all buckets of a tenant: the bucket there has the name of the one here behind `bucketPrefix`. */
export interface TenantSiteTarget extends Omit<SiteTarget, 'bucket' | 'identity'> {
  readonly bucketPrefix: string
}

/** Where those buckets of a tenant go that have no replication of their own, also buckets that are made later. */
export interface TenantSiteRecord {
  readonly tenantId: TenantId
  readonly target: TenantSiteTarget
  /** Sealed under the master key for this tenant; each bucket that follows has it again, sealed for itself. */
  readonly secret: Uint8Array
  readonly rules: readonly SiteRule[]
  /** Whether a bucket that is not at the target is created there. */
  readonly createsBuckets: boolean
  /** Whether what buckets hold is sent too. That of a bucket which is younger than `since` always is. */
  readonly existing: boolean
  /** When it was first set. */
  readonly since: number
  readonly updatedAt: number
  readonly revision: number
  /** Buckets that follow are released step by step; then the row goes. */
  readonly isRemoved: boolean
}

/** A bucket that is to follow its tenant and does not yet, because its target is not there or refuses. */
export interface WaitingSiteRecord {
  readonly tenantId: TenantId
  readonly bucketId: BucketId
  readonly bucket: string
  /** Of the replication of the tenant that was tried. */
  readonly revision: number
  readonly since: number
  readonly attempts: number
  readonly dueAt: number
  readonly lastError: string
}

/** A walk over what the bucket holds, which queues what the rules name. */
export interface Resync {
  /** Index in the log of the entry that started it. */
  readonly id: number
  readonly startedAt: number
  /** Name of the last row that was looked at; empty: none yet. */
  readonly place: string
  readonly queued: number
  /** Versions that it met and that cannot be sent. */
  readonly notReplicable: number
  /** Null: under way. */
  readonly endedAt: number | null
}

/** Counts and failures of one bucket. It outlives the configuration until its last row is gone. */
export interface SiteStateRecord {
  readonly tenantId: TenantId
  readonly bucketId: BucketId
  readonly bucket: string
  /** Nothing is sent any more, and the rows are removed step by step. */
  readonly isRemoved: boolean
  /** Number of rows that wait, and the bytes of their versions, exact. */
  readonly pending: number
  readonly pendingBytes: number
  /** Number of rows that were given up, exact. */
  readonly failed: number
  /** Changes that are at the target, and their bytes. Never decrease. */
  readonly sent: number
  readonly sentBytes: number
  /** Changes that were not needed there any more: their version is gone here, or a newer one is there. */
  readonly skipped: number
  /** Changes that lost against a later change at the target. */
  readonly conflicts: number
  /** Versions that were not queued, because only their client has the key of their bytes. Never decreases. */
  readonly notReplicable: number
  /** Changes that no row was made of, since the last resync began. */
  readonly dropped: number
  /** Attempts without an answer since the last one with an answer, the time of the first of them, and no attempt before this time. */
  readonly failures: number
  readonly failingSince: number | null
  readonly notBefore: number
  /** Of the last attempt that failed. Null: none, or one succeeded since. */
  readonly lastError: string | null
  readonly lastSentAt: number | null
  /** Null: none was started. */
  readonly resync: Resync | null
}

/**
 * `put`: a version is there now. `tags` and `lock`: they changed. `delete`: the key was deleted without naming a version. `remove`: this
 * version was removed for good.
 */
export type SiteChangeKind = 'put' | 'tags' | 'lock' | 'delete' | 'remove'

/** One change that is not at the target yet. */
export interface SiteChangeRecord {
  /** Position of the change in the log, in the form of a version id: the order in which the changes of a key are sent. */
  readonly changeId: VersionId
  readonly kind: SiteChangeKind
  readonly key: string
  /** Of `put`, `tags`, `lock` and `remove` the version; of `delete` the delete marker, or the version that is gone. Its id in the row key. */
  readonly versionId: VersionId
  /** Bytes to send. */
  readonly bytes: number
  /** When the change was made. ms since 1970 */
  readonly time: number
  readonly attempts: number
  /** No attempt before this time. */
  readonly dueAt: number
  readonly lastError: string | null
}
