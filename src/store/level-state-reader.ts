/**
 * The StateReader port over the current state of this node.
 *
 * Owns: single reads and bounded pages. Knows nothing of: whether what it sees is fresh; callers pass a read barrier.
 * Rules: each question takes the state from the handle anew; a page reads from one consistent cut. Every one of them throws
 * Condition while the state is being replaced.
 */
import assert from 'node:assert/strict'
import { auditHead } from '../state-machine/audit.ts'
import type { NotedHead } from '../state-machine/audit-chain.ts'
import { settingsOf } from '../state-machine/collection.ts'
import { isKeyPart, keys, manifestNameIn, ranges } from '../state-machine/keys.ts'
import { LINKS_PER_PAGE } from '../state-machine/manifests.ts'
import type {
  AccessKeyId,
  AccessKeyRecord,
  AccountRecord,
  AdminTokenRecord,
  BucketId,
  BucketPolicyRecord,
  BucketRecord,
  ChunkId,
  ChunkLink,
  ChunkRecord,
  ClusterKeyRecord,
  CompletedRecord,
  CorsRecord,
  CondemnedRecord,
  DiscardRecord,
  DropRecord,
  ExpiryRecord,
  InlineBodyRecord,
  ObjectPart,
  ObjectRecord,
  OperationRecord,
  PartRecord,
  QuotaRecord,
  QuotaReport,
  RepairRecord,
  SessionRecord,
  SettingsRecord,
  TenantId,
  TenantRecord,
  UploadRecord,
  UsageRecord,
  VersionId,
  VersionRecord,
} from '../state-machine/records.ts'
import { unfinishedOperations } from '../state-machine/operations.ts'
import { quotaOf, quotaReport } from '../state-machine/quota.ts'
import { NO_USAGE } from '../state-machine/usage.ts'
import { findPart } from '../state-machine/upload-parts.ts'
import { findVersion, newestVersion } from '../state-machine/versions.ts'
import type { RowKey, RowKind, RowTypes, View } from '../state-machine/view.ts'
import { listAccessKeys } from './access-key-listing.ts'
import { auditPage, verifyAudit } from './audit-walk.ts'
import { cutView } from './cut-view.ts'
import { LevelOutboxReader } from './level-outbox-reader.ts'
import { listObjects } from './object-listing.ts'
import { listParts } from './part-listing.ts'
import type { StateHandle } from './open-state.ts'
import { type Recounted, recountState } from './recount-state.ts'
import type { OutboxReader } from './outbox-reader.ts'
import { decodeRow, keyBytes } from './row-codec.ts'
import { PAGE_ROWS_MAX, type PageQuery, readPage, type RowPage } from './row-page.ts'
import type {
  AuditPage,
  AuditQuery,
  AuditVerdict,
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
import { type ContentPage, type ContentPlace, contentPage, lockedVersions } from './tenant-content.ts'
import { listVersions } from './version-listing.ts'

export class LevelStateReader implements StateReader {
  readonly #handle: StateHandle
  readonly view: View = { get: (key) => this.#read(key) }
  readonly outbox: OutboxReader = new LevelOutboxReader(
    this.view,
    <K extends RowKind>(query: PageQuery): Promise<RowPage<K>> => this.#page(query),
  )

  constructor(handle: StateHandle) {
    this.#handle = handle
  }

  clusterKey(): ClusterKeyRecord | undefined {
    return this.#read(keys.clusterKey())
  }

  tenant(id: TenantId): TenantRecord | undefined {
    return this.#read(keys.tenant(id))
  }

  tenants(after: string, limit: number): Promise<Page<TenantRecord>> {
    return this.#page<'tenant'>({ all: ranges.tenants(), after, limit })
  }

  accessKey(id: AccessKeyId): AccessKeyRecord | undefined {
    return this.#read(keys.accessKey(id))
  }

  accessKeys(tenant: TenantId, after: string, limit: number): Promise<Page<AccessKeyRecord>> {
    return this.#handle.lease((state) => listAccessKeys(state, tenant, { after, limit }))
  }

  accounts(tenant: TenantId, after: string, limit: number): Promise<Page<AccountRecord>> {
    return this.#page<'account'>({ all: ranges.accounts(tenant), after, limit })
  }

  adminToken(sha256: string): AdminTokenRecord | undefined {
    const found = this.#read(keys.adminTokenHash(sha256))
    return found === undefined ? undefined : this.#read(keys.adminToken(found.tokenId))
  }

  adminTokens(after: string, limit: number): Promise<Page<AdminTokenRecord>> {
    return this.#page<'adminToken'>({ all: ranges.adminTokens(), after, limit })
  }

  bucket(tenant: TenantId, name: string): BucketRecord | undefined {
    return this.#read(keys.bucket(tenant, name))
  }

  bucketPolicy(tenant: TenantId, bucket: string): BucketPolicyRecord | undefined {
    const found = isKeyPart(bucket) ? this.bucket(tenant, bucket) : undefined
    return found === undefined ? undefined : this.#read(keys.bucketPolicy(found.id))
  }

  buckets(tenant: TenantId, prefix: string, after: string, limit: number): Promise<Page<BucketRecord>> {
    return this.#page<'bucket'>({ all: ranges.buckets(tenant), prefix, after, limit })
  }

  /** A bucket without rules costs no look at the store. */
  cors(bucket: BucketRecord): CorsRecord | undefined {
    return bucket.hasCors ? this.#read(keys.cors(bucket.id)) : undefined
  }

  object(bucket: BucketRecord, key: string): ObjectRecord | undefined {
    return this.#read(keys.object(bucket.id, key))
  }

  objects(bucket: BucketRecord, query: ListObjectsQuery): Promise<ObjectPage> {
    assert(query.limit >= 1 && query.limit <= PAGE_ROWS_MAX, 'a listing asks for 1 to 1,000 lines')
    return this.#handle.lease((state) => listObjects(state.db, bucket.id, query))
  }

  version(bucket: BucketRecord, key: string, versionId: string): VersionRecord | undefined {
    return this.#cut((view) => findVersion(view, bucket.id, key, versionId))
  }

  newestVersion(bucket: BucketRecord, key: string): VersionRecord | undefined {
    return this.#cut((view) => newestVersion(view, bucket.id, key))
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
    return this.#read(keys.upload(bucket.id, key, uploadId))
  }

  async uploads(bucket: BucketRecord, query: ListUploadsQuery): Promise<UploadPage> {
    const { prefix, keyMarker, uploadIdMarker, limit } = query
    const isBelowSkipped = uploadIdMarker === ''
    const after = isBelowSkipped ? keyMarker : `${keyMarker}\u0000${uploadIdMarker}`
    const all = ranges.uploads(bucket.id)
    const { items, next } = await this.#page<'upload'>({ all, prefix, after, isBelowSkipped, limit })
    const last = items.at(-1)
    const isEnd = next === null || last === undefined
    return { uploads: items, next: isEnd ? null : { keyMarker: last.key, uploadIdMarker: last.uploadId } }
  }

  completed(bucket: BucketRecord, key: string, uploadId: string): CompletedRecord | undefined {
    return this.#read(keys.completed(bucket.id, key, uploadId))
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
    return this.#read(keys.inlineBody(bucket, version))
  }

  objectParts(bucket: BucketId, version: VersionId, page: number): readonly ObjectPart[] {
    return this.#read(keys.partPage(bucket, version, page))?.parts ?? []
  }

  /** Fewer links come back where the manifest ends, and none once its object was replaced or deleted. */
  manifest(bucket: BucketId, version: VersionId, first: number, count: number): readonly ChunkLink[] {
    assert(first >= 0 && count >= 0 && count <= LINKS_PER_PAGE, 'a manifest is read in bounded steps')
    const firstPage = Math.floor(first / LINKS_PER_PAGE)
    const links: ChunkLink[] = []
    for (let page = firstPage; page * LINKS_PER_PAGE < first + count; page++) {
      const row = this.#read(keys.manifestPage(bucket, version, page))
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
    const { start, end } = ranges.manifestPages(bucket)
    const from = version === '' ? start : keys.manifestPage(bucket, version, page)
    const { items, names } = await this.#page<'manifestPage'>({ all: { start: from, end }, limit })
    return items.map(({ links }, n) => ({ ...manifestNameIn(names[n] ?? ''), links }))
  }

  chunk(tenant: TenantId, id: ChunkId): ChunkRecord | undefined {
    return this.#read(keys.chunk(tenant, id))
  }

  /** All tenants, in the order of their rows; `after` is what a page before it gave as `next`. */
  chunks(after: string, limit: number): Promise<Page<ChunkRecord>> {
    return this.#page<'chunk'>({ all: ranges.chunks(), after, limit })
  }

  /** In the order of their ids; `after` is one of them. */
  chunksOf(tenant: TenantId, after: ChunkId, limit: number): Promise<Page<ChunkRecord>> {
    return this.#page<'chunk'>({ all: ranges.chunksOf(tenant), after: after as string, limit })
  }

  async condemned(limit: number): Promise<readonly CondemnedRecord[]> {
    return (await this.#page<'condemned'>({ all: ranges.condemned(), limit })).items
  }

  async drops(node: string, limit: number): Promise<readonly DropRecord[]> {
    return (await this.#page<'drop'>({ all: ranges.dropsOf(node), limit })).items
  }

  /** What was condemned last of all that is condemned now. */
  newestCondemned(): Promise<CondemnedRecord | null> {
    return this.#handle.lease(async ({ db }) => {
      const { start, end } = ranges.condemned()
      const [last] = await db
        .iterator({ gte: keyBytes(start), lt: keyBytes(end), reverse: true, limit: 1 })
        .all()
      if (last === undefined) return null
      const key: RowKey<'condemned'> = last[0].toString('utf8')
      return decodeRow(key, last[1])
    })
  }

  /** Of the first nodes by name; there are no more nodes than fit a page. */
  async openSessions(): Promise<readonly { readonly node: string; readonly session: string }[]> {
    const all = ranges.nodeSessions()
    const { items } = await this.#page<'nodeSessions'>({ all, limit: PAGE_ROWS_MAX })
    return items.flatMap(({ node, open }) => open.map((session) => ({ node, session })))
  }

  operation(id: string): OperationRecord | undefined {
    return this.#read(keys.operation(id))
  }

  operations(after: string, limit: number): Promise<Page<OperationRecord>> {
    return this.#page<'operation'>({ all: ranges.operations(), after, limit })
  }

  /** Few: their number has a bound. */
  unfinishedOperations(): readonly OperationRecord[] {
    return unfinishedOperations(this.view)
  }

  /** Tasks of all targets, in the order of their rows. */
  tasks(after: string, limit: number): Promise<Page<RepairRecord>> {
    return this.#page<'repair'>({ all: ranges.repairs(), after, limit })
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
    return this.#read(keys.session(id))
  }

  /** From one cut, so that the figures fit each other also while they change. */
  tenantUsage(tenant: TenantId, bucketsMax: number): Promise<TenantUsage> {
    return this.#handle.lease(async (state) => {
      const snapshot = state.db.snapshot()
      try {
        const view = cutView(state.db, snapshot)
        const all = ranges.buckets(tenant)
        const buckets = await readPage<'bucket'>(state, { all, limit: bucketsMax, snapshot })
        const usage = { ...NO_USAGE, ...view.get(keys.usage(tenant)) }
        return { usage, bucketCount: view.get(keys.tenant(tenant))?.bucketCount ?? 0, buckets }
      } finally {
        await snapshot.close()
      }
    })
  }

  usage(tenant: TenantId): UsageRecord {
    return this.#read(keys.usage(tenant)) ?? NO_USAGE
  }

  quota(tenant: TenantId): QuotaRecord {
    return quotaOf(this.view, tenant)
  }

  quotaReport(tenant: TenantId): QuotaReport {
    return this.#cut((view) => quotaReport(view, tenant))
  }

  async expiries(before: number, limit: number): Promise<readonly ExpiryRecord[]> {
    return (await this.#page<'expiry'>({ all: ranges.expiries(before), limit })).items
  }

  async discards(limit: number): Promise<readonly DiscardRecord[]> {
    return (await this.#page<'discard'>({ all: ranges.discards(), limit })).items
  }

  settings(): SettingsRecord {
    return settingsOf(this.view)
  }

  repairs(target: string, limit: number): readonly RepairRecord[] {
    // The engine asks at any time, also while a state is being fetched from a peer: nothing is owed by what cannot be read.
    return this.#handle.usable?.repairs.take(target, limit) ?? []
  }

  repairCount(): number {
    return this.#read(keys.repairTotal())?.count ?? 0
  }

  auditPage(query: AuditQuery): Promise<AuditPage> {
    assert(query.limit >= 1 && query.limit <= PAGE_ROWS_MAX, 'a page holds 1 to 1,000 rows')
    return this.#handle.lease((state) => auditPage(state, query))
  }

  verifyAudit(noted: NotedHead | null): Promise<AuditVerdict | null> {
    return this.#handle.lease((state) => verifyAudit(state, noted))
  }

  /** Null: there is none. */
  oldestAuditTime(): number | null {
    const { first, next } = auditHead(this.view)
    return first === next ? null : (this.#read(keys.auditLink(first))?.time ?? null)
  }

  #read<K extends RowKind>(key: RowKey<K>): RowTypes[K] | undefined {
    return this.#handle.read((state) => state.read(key))
  }

  /** For an answer that lies in several rows. */
  #cut<T>(read: (view: View) => T): T {
    return this.#handle.read((state) => state.cut(read))
  }

  #page<K extends RowKind>(query: PageQuery): Promise<RowPage<K>> {
    return this.#handle.lease((state) => readPage<K>(state, query))
  }
}
