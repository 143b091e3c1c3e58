/**
 * The port through which operations look at the replicated metadata of this node.
 *
 * Owns: the questions that can be asked. All answers come from local LevelDB, synchronously for single rows; a caller
 * that needs the truth of the whole cluster passes cluster.readBarrier() first.
 * Rule: pages are bounded; nothing here ever returns "all".
 */
import type { View } from '../../state-machine/base/view.ts'
import type {
  AccessKeyId,
  BucketId,
  ChunkId,
  TenantId,
  VersionId,
} from '../../state-machine/base/record-ids.ts'
import type {
  DiscardedBodyRecord,
  DiscardRecord,
  InlineBodyRecord,
  ObjectPart,
  PartRecord,
} from '../../state-machine/bodies/records.ts'
import type { BucketPolicyRecord, BucketRecord, CorsRecord } from '../../state-machine/buckets/records.ts'
import type {
  ChunkLink,
  ChunkRecord,
  RepairRecord,
  SettingsRecord,
} from '../../state-machine/chunks/records.ts'
import type { CompletedRecord, ExpiryRecord, UploadRecord } from '../../state-machine/objects/records.ts'
import type { OperationRecord } from '../../state-machine/operations/records.ts'
import type {
  AccessKeyRecord,
  AccountRecord,
  AdminTokenRecord,
  ClusterKeyRecord,
  TenantRecord,
} from '../../state-machine/tenants/records.ts'
import type { QuotaRecord, QuotaReport, UsageRecord } from '../../state-machine/usage/records.ts'
import type { ObjectRecord, VersionRecord } from '../../state-machine/versions/records.ts'
import type { AuditReader } from './audit-reader.ts'
import type { OutboxReader } from './outbox-reader.ts'

export type { AuditReader }

export interface Page<T> {
  readonly items: readonly T[]
  /** Ask again with this as `after`; null when nothing is left. */
  readonly next: string | null
}

export interface ListObjectsQuery {
  readonly prefix: string
  readonly delimiter: string
  /** 1..1000; objects and common prefixes count alike. */
  readonly limit: number
  /**
   * Exclusive lower bound: an object key, or a common prefix that was already returned (then everything below it is skipped).
   * Empty string for the beginning.
   */
  readonly after: string
}

/** Rows of a body that were read in the cut that its version was found in: later they may be gone. */
export interface PinnedRows {
  readonly inline?: InlineBodyRecord
  /** All links of the body. */
  readonly links?: readonly ChunkLink[]
}

/** What else is read in the cut that a version is found in. */
export type InCut = (view: View, bucket: BucketRecord, version: VersionRecord) => void

export interface ObjectPage {
  readonly objects: readonly ObjectRecord[]
  readonly commonPrefixes: readonly string[]
  readonly next: string | null
}

/** All of one moment. */
export interface TenantUsage {
  readonly usage: UsageRecord
  readonly bucketCount: number
  /** The first ones by name. */
  readonly buckets: Page<BucketRecord>
}

/** Where a page of versions ended, as the next one is asked for. */
export interface VersionMarker {
  /** The key shown last, or the common prefix shown last. Empty: from the beginning. */
  readonly keyMarker: string
  /**
   * The version of that key shown last; its older ones come next. Empty: none of that key comes any more. A marker that a
   * page gave is the version's own id, also of a null version: that one may be replaced between two pages. `null` is
   * taken for the null version of the moment; without one, all versions of the key come.
   */
  readonly versionIdMarker: string
}

export interface ListVersionsQuery extends VersionMarker {
  readonly prefix: string
  readonly delimiter: string
  /** 1..1000; versions, delete markers and common prefixes count alike. */
  readonly limit: number
}

export interface VersionPage {
  /** Keys ascending, of a key the newest first. Exactly those whose `newer` is null are the latest of their key. */
  readonly versions: readonly VersionRecord[]
  readonly commonPrefixes: readonly string[]
  readonly next: VersionMarker | null
}

/** Where a page of uploads ended. */
export interface UploadMarker {
  /** Empty: from the beginning. */
  readonly keyMarker: string
  /** Empty: no upload of that key comes any more. */
  readonly uploadIdMarker: string
}

export interface ListUploadsQuery extends UploadMarker {
  readonly prefix: string
  /** 1..1000 */
  readonly limit: number
}

export interface UploadPage {
  /** Keys ascending, of a key in the order of their beginnings. */
  readonly uploads: readonly UploadRecord[]
  readonly next: UploadMarker | null
}

export interface PartsPage {
  /** By their numbers, ascending. */
  readonly parts: readonly PartRecord[]
  /** The number to go on behind; null when nothing is left. */
  readonly next: number | null
}

/** Links number `page * LINKS_PER_PAGE` and on of the body `version`. */
export interface ManifestPage {
  readonly version: VersionId
  readonly page: number
  readonly links: readonly ChunkLink[]
}

export interface StateReader {
  /** Single rows as they are now, for the questions of the pure room. */
  readonly view: View
  readonly outbox: OutboxReader
  clusterKey(): ClusterKeyRecord | undefined
  tenant(id: TenantId): TenantRecord | undefined
  tenants(after: string, limit: number): Promise<Page<TenantRecord>>
  tenantUsage(tenant: TenantId, bucketsMax: number): Promise<TenantUsage>
  accessKey(id: AccessKeyId): AccessKeyRecord | undefined
  accessKeys(tenant: TenantId, after: string, limit: number): Promise<Page<AccessKeyRecord>>
  /** In the order in which they were made. */
  accounts(tenant: TenantId, after: string, limit: number): Promise<Page<AccountRecord>>
  settings(): SettingsRecord
  operation(id: string): OperationRecord | undefined
  /** In the order of their ids, which is that of their beginnings. */
  operations(after: string, limit: number): Promise<Page<OperationRecord>>
  adminToken(sha256: string): AdminTokenRecord | undefined
  adminTokens(after: string, limit: number): Promise<Page<AdminTokenRecord>>
  bucket(tenant: TenantId, name: string): BucketRecord | undefined
  /** Of any name, also of one that no bucket can have; undefined when the bucket is not there or has none. */
  bucketPolicy(tenant: TenantId, bucket: string): BucketPolicyRecord | undefined
  buckets(tenant: TenantId, prefix: string, after: string, limit: number): Promise<Page<BucketRecord>>
  cors(bucket: BucketRecord): CorsRecord | undefined
  object(bucket: BucketRecord, key: string): ObjectRecord | undefined
  objects(bucket: BucketRecord, query: ListObjectsQuery): Promise<ObjectPage>
  /** By the id that clients use, `null` too; undefined for whatever is no id. */
  version(bucket: BucketRecord, key: string, versionId: string, inCut?: InCut): VersionRecord | undefined
  /** An object, or a delete marker; undefined when the key has no version at all. */
  newestVersion(bucket: BucketRecord, key: string, inCut?: InCut): VersionRecord | undefined
  versions(bucket: BucketRecord, query: ListVersionsQuery): Promise<VersionPage>
  /** Those that carry a retention or a legal hold, whether it has ended or not; all of a page from one moment. */
  lockedVersions(bucket: BucketId, after: string, limit: number): Promise<Page<VersionRecord>>
  upload(bucket: BucketRecord, key: string, uploadId: string): UploadRecord | undefined
  uploads(bucket: BucketRecord, query: ListUploadsQuery): Promise<UploadPage>
  /** What the completion of an upload answered, for a day. */
  completed(bucket: BucketRecord, key: string, uploadId: string): CompletedRecord | undefined
  part(bucket: BucketId, uploadId: string, partNumber: number): PartRecord | undefined
  /** `after` 0: from the first. `limit`: 1..1000. They may be there for a while when the upload has ended. */
  parts(bucket: BucketId, uploadId: string, after: number, limit: number): Promise<PartsPage>
  inlineBody(bucket: BucketId, version: VersionId): InlineBodyRecord | undefined
  /** Links number `first`..`first + count - 1` of a manifest; whole page rows are read, at most 1,024 links a call. */
  manifest(bucket: BucketId, version: VersionId, first: number, count: number): readonly ChunkLink[]
  /** Of all bodies of a bucket, in the order of their ids, from one page of one body on. */
  manifestPages(
    bucket: BucketId,
    from: { readonly version: VersionId; readonly page: number },
    limit: number,
  ): Promise<readonly ManifestPage[]>
  /** A page of the parts of an assembled object, PARTS_PER_PAGE of them; none behind the last page, or when it is gone. */
  objectParts(bucket: BucketId, version: VersionId, page: number): readonly ObjectPart[]
  chunk(tenant: TenantId, id: ChunkId): ChunkRecord | undefined
  /** Of all tenants. */
  chunks(after: string, limit: number): Promise<Page<ChunkRecord>>
  /** In the order of their ids; `after` is one of them. */
  chunksOf(tenant: TenantId, after: ChunkId, limit: number): Promise<Page<ChunkRecord>>
  /** Few: their number has a bound. */
  unfinishedOperations(): readonly OperationRecord[]
  usage(tenant: TenantId): UsageRecord
  /** All members null when none was set. */
  quota(tenant: TenantId): QuotaRecord
  quotaReport(tenant: TenantId): QuotaReport
  /** What ends by itself at `before` or earlier, the earliest first. */
  expiries(before: number, limit: number): Promise<readonly ExpiryRecord[]>
  /** Bodies and parts that wait to be released. */
  discards(limit: number): Promise<readonly DiscardRecord[]>
  /** Bodies of versions that wait until nobody reads them, the first first. */
  discardedBodies(limit: number): Promise<readonly DiscardedBodyRecord[]>
  repairs(target: string, limit: number): readonly RepairRecord[]
  /** For /metrics: rows by kind are not counted here, only what the store knows for free. */
  repairCount(): number
  readonly audit: AuditReader
}
