/**
 * The StateReader port over the current state of this node.
 *
 * Owns: single reads and bounded pages. Knows nothing of: whether what it sees is fresh; callers pass a read barrier.
 * Rules: each question takes the state from the handle anew; a page reads from one consistent cut.
 */
import assert from 'node:assert/strict'
import { DEFAULT_SETTINGS } from '../state-machine/collection.ts'
import { type KeyRange, keys, narrow, ranges } from '../state-machine/keys.ts'
import { LINKS_PER_PAGE } from '../state-machine/manifests.ts'
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
  CondemnedRecord,
  DropRecord,
  InlineBodyRecord,
  ObjectPart,
  ObjectRecord,
  OperationRecord,
  RepairRecord,
  SessionRecord,
  SettingsRecord,
  TenantId,
  TenantRecord,
  UsageRecord,
  VersionId,
} from '../state-machine/records.ts'
import { NO_USAGE } from '../state-machine/usage.ts'
import type { RowKey, RowKind, RowTypes, View } from '../state-machine/view.ts'
import { listObjects } from './object-listing.ts'
import type { OpenState, StateHandle } from './open-state.ts'
import { recountState } from './recount-state.ts'
import { decodeRow, keyBytes } from './row-codec.ts'
import type { ListObjectsQuery, ObjectPage, Page, StateReader } from './state-reader.ts'
import { assertAscending } from './state-rows.ts'

const PAGE_ROWS_MAX = 1000

interface PageQuery {
  /** All rows of this kind and owner: `after` is a name inside it. */
  readonly all: KeyRange
  readonly prefix: string
  readonly after: string
  readonly limit: number
}

export class LevelStateReader implements StateReader {
  readonly #handle: StateHandle
  /** Single rows as they are now, for the questions of the pure room. */
  readonly view: View = { get: (key) => this.#read(key) }

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
    return this.#page<'tenant'>({ all: ranges.tenants(), prefix: '', after, limit })
  }

  accessKey(id: AccessKeyId): AccessKeyRecord | undefined {
    return this.#read(keys.accessKey(id))
  }

  async accessKeys(tenant: TenantId, after: string, limit: number): Promise<Page<AccessKeyRecord>> {
    const all = ranges.tenantAccessKeys(tenant)
    const { items, next } = await this.#page<'tenantAccessKey'>({ all, prefix: '', after, limit })
    const records = items.map(({ accessKeyId }) => {
      const record = this.accessKey(accessKeyId)
      assert(record !== undefined, 'an access key that the index names exists')
      return record
    })
    return { items: records, next }
  }

  adminToken(sha256: string): AdminTokenRecord | undefined {
    const found = this.#read(keys.adminTokenHash(sha256))
    return found === undefined ? undefined : this.#read(keys.adminToken(found.tokenId))
  }

  adminTokens(after: string, limit: number): Promise<Page<AdminTokenRecord>> {
    return this.#page<'adminToken'>({ all: ranges.adminTokens(), prefix: '', after, limit })
  }

  bucket(tenant: TenantId, name: string): BucketRecord | undefined {
    return this.#read(keys.bucket(tenant, name))
  }

  buckets(tenant: TenantId, prefix: string, after: string, limit: number): Promise<Page<BucketRecord>> {
    return this.#page<'bucket'>({ all: ranges.buckets(tenant), prefix, after, limit })
  }

  object(bucket: BucketRecord, key: string): ObjectRecord | undefined {
    return this.#read(keys.object(bucket.id, key))
  }

  objects(bucket: BucketRecord, query: ListObjectsQuery): Promise<ObjectPage> {
    assert(query.limit >= 1 && query.limit <= PAGE_ROWS_MAX, 'a listing asks for 1 to 1,000 lines')
    return this.#handle.current.lease((state) => listObjects(state.db, bucket.id, query))
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

  chunk(tenant: TenantId, id: ChunkId): ChunkRecord | undefined {
    return this.#read(keys.chunk(tenant, id))
  }

  /** All tenants, in the order of their rows; `after` is what a page before it gave as `next`. */
  chunks(after: string, limit: number): Promise<Page<ChunkRecord>> {
    return this.#page<'chunk'>({ all: ranges.chunks(), prefix: '', after, limit })
  }

  /** In the order of their ids; `after` is one of them. */
  chunksOf(tenant: TenantId, after: ChunkId, limit: number): Promise<Page<ChunkRecord>> {
    return this.#page<'chunk'>({ all: ranges.chunksOf(tenant), prefix: '', after: after as string, limit })
  }

  async condemned(limit: number): Promise<readonly CondemnedRecord[]> {
    return (await this.#page<'condemned'>({ all: ranges.condemned(), prefix: '', after: '', limit })).items
  }

  async drops(node: string, limit: number): Promise<readonly DropRecord[]> {
    return (await this.#page<'drop'>({ all: ranges.dropsOf(node), prefix: '', after: '', limit })).items
  }

  /** What was condemned last of all that is condemned now. */
  newestCondemned(): Promise<CondemnedRecord | null> {
    return this.#handle.current.lease(async ({ db }) => {
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
    const { items } = await this.#page<'nodeSessions'>({ all, prefix: '', after: '', limit: PAGE_ROWS_MAX })
    return items.flatMap(({ node, open }) => open.map((session) => ({ node, session })))
  }

  operation(id: string): OperationRecord | undefined {
    return this.#read(keys.operation(id))
  }

  operations(after: string, limit: number): Promise<Page<OperationRecord>> {
    return this.#page<'operation'>({ all: ranges.operations(), prefix: '', after, limit })
  }

  /** Tasks of all targets, in the order of their rows. */
  tasks(after: string, limit: number): Promise<Page<RepairRecord>> {
    return this.#page<'repair'>({ all: ranges.repairs(), prefix: '', after, limit })
  }

  /** For /metrics: false while there is nothing that may be read. */
  isCollectionHalted(): boolean {
    const settings = this.#handle.usable?.read(keys.settings()) ?? DEFAULT_SETTINGS
    return settings.collectionHalted !== null
  }

  /** What the rows count wrongly, in sentences; null when the state was replaced meanwhile. */
  recount(): Promise<readonly string[] | null> {
    return recountState(this.#handle.current)
  }

  session(id: string): SessionRecord | undefined {
    return this.#read(keys.session(id))
  }

  usage(tenant: TenantId): UsageRecord {
    return this.#read(keys.usage(tenant)) ?? NO_USAGE
  }

  settings(): SettingsRecord {
    return this.#read(keys.settings()) ?? DEFAULT_SETTINGS
  }

  repairs(target: string, limit: number): readonly RepairRecord[] {
    // The engine asks at any time, also while a state is being fetched from a peer: nothing is owed by what cannot be read.
    return this.#handle.usable?.repairs.take(target, limit) ?? []
  }

  repairCount(): number {
    return this.#read(keys.repairTotal())?.count ?? 0
  }

  #read<K extends RowKind>(key: RowKey<K>): RowTypes[K] | undefined {
    return this.#handle.current.read(key)
  }

  #page<K extends RowKind>(query: PageQuery): Promise<Page<RowTypes[K]>> {
    return this.#handle.current.lease((state) => readPage<K>(state, query))
  }
}

async function readPage<K extends RowKind>(state: OpenState, query: PageQuery): Promise<Page<RowTypes[K]>> {
  const { all, prefix, after } = query
  const limit = Math.min(query.limit, PAGE_ROWS_MAX)
  const range = narrow(all, prefix)
  const first = keyBytes(range.start)
  const next = after === '' ? first : keyBytes(`${all.start}${after}\u0000`)
  const start = Buffer.compare(next, first) > 0 ? next : first
  const items: RowTypes[K][] = []
  let last: string | null = null
  let seen: Uint8Array = new Uint8Array()
  // One row more than asked for tells whether anything is left.
  for await (const [bytes, value] of state.db.iterator({
    gte: start,
    lt: keyBytes(range.end),
    limit: limit + 1,
  })) {
    if (items.length === limit) return { items, next: last }
    const key: RowKey<K> = bytes.toString('utf8')
    assertAscending(seen, bytes)
    items.push(decodeRow(key, value))
    last = key.slice(all.start.length)
    seen = bytes
  }
  return { items, next: null }
}
