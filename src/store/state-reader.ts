/**
 * The port through which operations look at the replicated metadata of this node.
 *
 * Owns: the questions that can be asked. All answers come from local LevelDB, synchronously for single rows; a caller
 * that needs the truth of the whole cluster passes cluster.readBarrier() first.
 * Rule: pages are bounded; nothing here ever returns "all".
 */
import type {
  AccessKeyId,
  AccessKeyRecord,
  AdminTokenRecord,
  BucketId,
  BucketRecord,
  ChunkId,
  ChunkLink,
  ChunkRecord,
  ClusterKeyRecord,
  InlineBodyRecord,
  ObjectPart,
  ObjectRecord,
  OperationRecord,
  RepairRecord,
  SettingsRecord,
  TenantId,
  TenantRecord,
  VersionId,
} from '../state-machine/records.ts'

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

export interface ObjectPage {
  readonly objects: readonly ObjectRecord[]
  readonly commonPrefixes: readonly string[]
  readonly next: string | null
}

export interface StateReader {
  clusterKey(): ClusterKeyRecord | undefined
  tenant(id: TenantId): TenantRecord | undefined
  tenants(after: string, limit: number): Promise<Page<TenantRecord>>
  accessKey(id: AccessKeyId): AccessKeyRecord | undefined
  accessKeys(tenant: TenantId, after: string, limit: number): Promise<Page<AccessKeyRecord>>
  settings(): SettingsRecord
  operation(id: string): OperationRecord | undefined
  /** In the order of their ids, which is that of their beginnings. */
  operations(after: string, limit: number): Promise<Page<OperationRecord>>
  adminToken(sha256: string): AdminTokenRecord | undefined
  adminTokens(after: string, limit: number): Promise<Page<AdminTokenRecord>>
  bucket(tenant: TenantId, name: string): BucketRecord | undefined
  buckets(tenant: TenantId, prefix: string, after: string, limit: number): Promise<Page<BucketRecord>>
  object(bucket: BucketRecord, key: string): ObjectRecord | undefined
  objects(bucket: BucketRecord, query: ListObjectsQuery): Promise<ObjectPage>
  inlineBody(bucket: BucketId, version: VersionId): InlineBodyRecord | undefined
  /** Links number `first`..`first + count - 1` of a manifest; whole page rows are read, at most 1,024 links a call. */
  manifest(bucket: BucketId, version: VersionId, first: number, count: number): readonly ChunkLink[]
  /** A page of the parts of an assembled object, PARTS_PER_PAGE of them; none behind the last page, or when it is gone. */
  objectParts(bucket: BucketId, version: VersionId, page: number): readonly ObjectPart[]
  chunk(tenant: TenantId, id: ChunkId): ChunkRecord | undefined
  repairs(target: string, limit: number): readonly RepairRecord[]
  /** For /metrics: rows by kind are not counted here, only what the store knows for free. */
  repairCount(): number
}
