/**
 * The StateReader port over the current state of this node.
 *
 * Owns: single reads and bounded pages. Knows nothing of: whether what it sees is fresh; callers pass a read barrier.
 * Rules: each question takes the state from the handle anew; a page reads from one consistent cut. Every one of them throws
 * Condition while the state is being replaced.
 */
import assert from 'node:assert/strict'
import type { ManifestPageRecord } from '../../state-machine/bodies/records.ts'
import { versionKeys } from '../../state-machine/versions/keys.ts'
import { usageKeys } from '../../state-machine/usage/keys.ts'
import { tenantKeys, tenantRanges } from '../../state-machine/tenants/keys.ts'
import { operationKeys, operationRanges } from '../../state-machine/operations/keys.ts'
import { objectKeys, objectRanges } from '../../state-machine/objects/keys.ts'
import { chunkKeys, chunkRanges } from '../../state-machine/chunks/keys.ts'
import { bucketKeys, bucketRanges } from '../../state-machine/buckets/keys.ts'
import { bodyKeys, bodyRanges, manifestNameIn } from '../../state-machine/bodies/keys.ts'
import type { View } from '../../state-machine/base/view.ts'
import { isKeyPart, type RowKey } from '../../state-machine/base/row-key.ts'
import { settingsOf } from '../../state-machine/chunks/collection.ts'
import { LINKS_PER_PAGE } from '../../state-machine/bodies/manifests.ts'
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
  CondemnedRecord,
  DropRecord,
  RepairRecord,
  SessionRecord,
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
import { unfinishedOperations } from '../../state-machine/operations/operations.ts'
import { quotaOf, quotaReport } from '../../state-machine/usage/quota.ts'
import { NO_USAGE } from '../../state-machine/usage/usage.ts'
import { findPart } from '../../state-machine/bodies/upload-parts.ts'
import { findVersion, newestVersion } from '../../state-machine/versions/versions.ts'
import { listAccessKeys } from './access-key-listing.ts'
import { LevelAuditReader } from './level-audit-reader.ts'
import { LevelOutboxReader } from './level-outbox-reader.ts'
import { listObjects } from './object-listing.ts'
import { listParts } from './part-listing.ts'
import type { StateHandle } from '../rows/open-state.ts'
import { type Recounted, recountState } from './recount-state.ts'
import type { OutboxReader } from './outbox-reader.ts'
import { lastRow, PAGE_ROWS_MAX, type PageQuery, readPage, type RowPage } from './row-page.ts'
import type {
  InCut,
  ListObjectsQuery,
  ListUploadsQuery,
  ListVersionsQuery,
  ManifestPage,
  ObjectPage,
  Page,
  PartsPage,
  StateReader,
  TenantUsage,
  UploadPage,
  VersionPage,
} from './state-reader.ts'
import { tenantUsage } from './tenant-usage.ts'
import { type ContentPage, type ContentPlace, contentPage, lockedVersions } from './tenant-content.ts'
import { listVersions } from './version-listing.ts'

export class LevelStateReader implements StateReader {
  readonly #handle: StateHandle
  readonly view: View = { get: (key) => this.#read(key) }
  readonly audit: LevelAuditReader = new LevelAuditReader(this.view, (work) => this.#handle.lease(work))
  readonly outbox: OutboxReader = new LevelOutboxReader(
    this.view,
    <R extends object>(query: PageQuery<R>): Promise<RowPage<R>> => this.#page(query),
  )

  constructor(handle: StateHandle) {
    this.#handle = handle
  }

  clusterKey(): ClusterKeyRecord | undefined {
    return this.#read(tenantKeys.clusterKey())
  }

  tenant(id: TenantId): TenantRecord | undefined {
    return this.#read(tenantKeys.tenant(id))
  }

  tenants(after: string, limit: number): Promise<Page<TenantRecord>> {
    return this.#page({ all: tenantRanges.tenants(), after, limit })
  }

  accessKey(id: AccessKeyId): AccessKeyRecord | undefined {
    return this.#read(tenantKeys.accessKey(id))
  }

  accessKeys(tenant: TenantId, after: string, limit: number): Promise<Page<AccessKeyRecord>> {
    return this.#handle.lease((state) => listAccessKeys(state, tenant, { after, limit }))
  }

  accounts(tenant: TenantId, after: string, limit: number): Promise<Page<AccountRecord>> {
    return this.#page({ all: tenantRanges.accounts(tenant), after, limit })
  }

  adminToken(sha256: string): AdminTokenRecord | undefined {
    const found = this.#read(tenantKeys.adminTokenHash(sha256))
    return found === undefined ? undefined : this.#read(tenantKeys.adminToken(found.tokenId))
  }

  adminTokens(after: string, limit: number): Promise<Page<AdminTokenRecord>> {
    return this.#page({ all: tenantRanges.adminTokens(), after, limit })
  }

  bucket(tenant: TenantId, name: string): BucketRecord | undefined {
    return this.#read(bucketKeys.bucket(tenant, name))
  }

  bucketPolicy(tenant: TenantId, bucket: string): BucketPolicyRecord | undefined {
    const found = isKeyPart(bucket) ? this.bucket(tenant, bucket) : undefined
    return found === undefined ? undefined : this.#read(bucketKeys.bucketPolicy(found.id))
  }

  buckets(tenant: TenantId, prefix: string, after: string, limit: number): Promise<Page<BucketRecord>> {
    return this.#page({ all: bucketRanges.buckets(tenant), prefix, after, limit })
  }

  /** A bucket without rules costs no look at the store. */
  cors(bucket: BucketRecord): CorsRecord | undefined {
    return bucket.hasCors ? this.#read(bucketKeys.cors(bucket.id)) : undefined
  }

  object(bucket: BucketRecord, key: string): ObjectRecord | undefined {
    return this.#read(versionKeys.object(bucket.id, key))
  }

  objects(bucket: BucketRecord, query: ListObjectsQuery): Promise<ObjectPage> {
    assert(query.limit >= 1 && query.limit <= PAGE_ROWS_MAX, 'a listing asks for 1 to 1,000 lines')
    return this.#handle.lease((state) => listObjects(state.db, bucket.id, query))
  }

  version(bucket: BucketRecord, key: string, versionId: string, inCut?: InCut): VersionRecord | undefined {
    return this.#found(bucket, (view) => findVersion(view, bucket.id, key, versionId), inCut)
  }

  newestVersion(bucket: BucketRecord, key: string, inCut?: InCut): VersionRecord | undefined {
    return this.#found(bucket, (view) => newestVersion(view, bucket.id, key), inCut)
  }

  versions(bucket: BucketRecord, query: ListVersionsQuery): Promise<VersionPage> {
    assert(query.limit >= 1 && query.limit <= PAGE_ROWS_MAX, 'a listing asks for 1 to 1,000 lines')
    return this.#handle.lease((state) => listVersions(state.db, bucket.id, query))
  }

  lockedVersions(bucket: BucketId, after: string, limit: number): Promise<Page<VersionRecord>> {
    return this.#handle.lease((state) => lockedVersions(state, bucket, { after, limit }))
  }

  /** What a deletion has to remove, kind by kind; null: nothing is left behind `place`. */
  content(bucket: BucketId, place: ContentPlace, limit: number): Promise<ContentPage> {
    return this.#handle.lease((state) => contentPage(state, bucket, place, limit))
  }

  upload(bucket: BucketRecord, key: string, uploadId: string): UploadRecord | undefined {
    return this.#read(objectKeys.upload(bucket.id, key, uploadId))
  }

  async uploads(bucket: BucketRecord, query: ListUploadsQuery): Promise<UploadPage> {
    const { prefix, keyMarker, uploadIdMarker, limit } = query
    const isBelowSkipped = uploadIdMarker === ''
    const after = isBelowSkipped ? keyMarker : `${keyMarker}\u0000${uploadIdMarker}`
    const all = objectRanges.uploads(bucket.id)
    const { items, next } = await this.#page({ all, prefix, after, isBelowSkipped, limit })
    const last = items.at(-1)
    const isEnd = next === null || last === undefined
    return { uploads: items, next: isEnd ? null : { keyMarker: last.key, uploadIdMarker: last.uploadId } }
  }

  completed(bucket: BucketRecord, key: string, uploadId: string): CompletedRecord | undefined {
    return this.#read(objectKeys.completed(bucket.id, key, uploadId))
  }

  part(bucket: BucketId, uploadId: string, partNumber: number): PartRecord | undefined {
    return findPart(this.view, { bucketId: bucket, uploadId }, partNumber)
  }

  parts(bucket: BucketId, uploadId: string, after: number, limit: number): Promise<PartsPage> {
    return this.#handle.lease((state) =>
      listParts(state.db, { bucketId: bucket, uploadId }, { after, limit }),
    )
  }

  inlineBody(bucket: BucketId, version: VersionId): InlineBodyRecord | undefined {
    return this.#read(bodyKeys.inlineBody(bucket, version))
  }

  objectParts(bucket: BucketId, version: VersionId, page: number): readonly ObjectPart[] {
    return this.#read(bodyKeys.partPage(bucket, version, page))?.parts ?? []
  }

  /** Fewer links come back where the manifest ends, and none once its object was replaced or deleted. */
  manifest(bucket: BucketId, version: VersionId, first: number, count: number): readonly ChunkLink[] {
    assert(first >= 0 && count >= 0 && count <= LINKS_PER_PAGE, 'a manifest is read in bounded steps')
    const firstPage = Math.floor(first / LINKS_PER_PAGE)
    const links: ChunkLink[] = []
    for (let page = firstPage; page * LINKS_PER_PAGE < first + count; page++) {
      const row = this.#read(bodyKeys.manifestPage(bucket, version, page))
      if (row === undefined) break
      links.push(...row.links)
    }
    const skipped = first - firstPage * LINKS_PER_PAGE
    return links.slice(skipped, skipped + count)
  }

  /** Of all bodies of a bucket, in the order of their ids, from one page of one body on. */
  async manifestPages(
    bucket: BucketId,
    { version, page }: { readonly version: VersionId; readonly page: number },
    limit: number,
  ): Promise<readonly ManifestPage[]> {
    const { start, end } = bodyRanges.manifestPages(bucket)
    const from = version === '' ? start : bodyKeys.manifestPage(bucket, version, page)
    const { items, names } = await this.#page<ManifestPageRecord>({ all: { start: from, end }, limit })
    return items.map(({ links }, n) => ({ ...manifestNameIn(names[n] ?? ''), links }))
  }

  chunk(tenant: TenantId, id: ChunkId): ChunkRecord | undefined {
    return this.#read(chunkKeys.chunk(tenant, id))
  }

  /** All tenants, in the order of their rows; `after` is what a page before it gave as `next`. */
  chunks(after: string, limit: number): Promise<Page<ChunkRecord>> {
    return this.#page({ all: chunkRanges.chunks(), after, limit })
  }

  /** In the order of their ids; `after` is one of them. */
  chunksOf(tenant: TenantId, after: ChunkId, limit: number): Promise<Page<ChunkRecord>> {
    return this.#page({ all: chunkRanges.chunksOf(tenant), after: after as string, limit })
  }

  async condemned(limit: number): Promise<readonly CondemnedRecord[]> {
    return (await this.#page({ all: chunkRanges.condemned(), limit })).items
  }

  async drops(node: string, limit: number): Promise<readonly DropRecord[]> {
    return (await this.#page({ all: chunkRanges.dropsOf(node), limit })).items
  }

  /** What was condemned last of all that is condemned now. */
  newestCondemned(): Promise<CondemnedRecord | null> {
    return this.#handle.lease((state) => lastRow(state, chunkRanges.condemned()))
  }

  /** Of the first nodes by name; there are no more nodes than fit a page. */
  async openSessions(): Promise<readonly { readonly node: string; readonly session: string }[]> {
    const all = chunkRanges.nodeSessions()
    const { items } = await this.#page({ all, limit: PAGE_ROWS_MAX })
    return items.flatMap(({ node, open }) => open.map((session) => ({ node, session })))
  }

  operation(id: string): OperationRecord | undefined {
    return this.#read(operationKeys.operation(id))
  }

  operations(after: string, limit: number): Promise<Page<OperationRecord>> {
    return this.#page({ all: operationRanges.operations(), after, limit })
  }

  /** Few: their number has a bound. */
  unfinishedOperations(): readonly OperationRecord[] {
    return unfinishedOperations(this.view)
  }

  /** Tasks of all targets, in the order of their rows. */
  tasks(after: string, limit: number): Promise<Page<RepairRecord>> {
    return this.#page({ all: chunkRanges.repairs(), after, limit })
  }

  /** For /metrics: false while there is nothing that may be read. */
  isCollectionHalted(): boolean {
    return this.#handle.usable !== null && this.settings().collectionHalted !== null
  }

  /** Null when the state was replaced meanwhile, or it is not wanted any more: asked between pieces, with the rows so far. */
  recount(isWanted: (rows: number) => boolean): Promise<Recounted | null> {
    return this.#handle.lease((state) => recountState(state, isWanted))
  }

  session(id: string): SessionRecord | undefined {
    return this.#read(chunkKeys.session(id))
  }

  tenantUsage(tenant: TenantId, bucketsMax: number): Promise<TenantUsage> {
    return this.#handle.lease((state) => tenantUsage(state, tenant, bucketsMax))
  }

  usage(tenant: TenantId): UsageRecord {
    return this.#read(usageKeys.usage(tenant)) ?? NO_USAGE
  }

  quota(tenant: TenantId): QuotaRecord {
    return quotaOf(this.view, tenant)
  }

  quotaReport(tenant: TenantId): QuotaReport {
    return this.#cut((view) => quotaReport(view, tenant))
  }

  async expiries(before: number, limit: number): Promise<readonly ExpiryRecord[]> {
    return (await this.#page({ all: objectRanges.expiries(before), limit })).items
  }

  async discards(limit: number): Promise<readonly DiscardRecord[]> {
    return (await this.#page({ all: bodyRanges.discards(), limit })).items
  }

  async discardedBodies(limit: number): Promise<readonly DiscardedBodyRecord[]> {
    return (await this.#page({ all: bodyRanges.discarded(), limit })).items
  }

  async newestDiscarded(): Promise<DiscardedBodyRecord | null> {
    return this.#handle.lease((state) => lastRow(state, bodyRanges.discarded()))
  }

  settings(): SettingsRecord {
    return settingsOf(this.view)
  }

  repairs(target: string, limit: number): readonly RepairRecord[] {
    // The engine asks at any time, also while a state is being fetched from a peer: nothing is owed by what cannot be read.
    return this.#handle.usable?.repairs.take(target, limit) ?? []
  }

  repairCount(): number {
    return this.#read(chunkKeys.repairTotal())?.count ?? 0
  }

  #read<R extends object>(key: RowKey<R>): R | undefined {
    return this.#handle.read((state) => state.read(key))
  }

  #found(
    bucket: BucketRecord,
    find: (view: View) => VersionRecord | undefined,
    inCut: InCut = () => {},
  ): VersionRecord | undefined {
    return this.#cut((view) => {
      const version = find(view)
      if (version !== undefined) inCut(view, bucket, version)
      return version
    })
  }

  /** For an answer that lies in several rows. */
  #cut<T>(read: (view: View) => T): T {
    return this.#handle.read((state) => state.cut(read))
  }

  #page<R extends object>(query: PageQuery<R>): Promise<RowPage<R>> {
    return this.#handle.lease((state) => readPage(state, query))
  }
}
