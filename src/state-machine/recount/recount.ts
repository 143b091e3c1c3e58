/**
 * Computes every count again from the primary rows, and compares the results with the counts that apply has kept.
 *
 * Owns: which rows and counts follow from which rows. Knows nothing of: where rows come from, what is done about a difference.
 * Rules: it corrects nothing; memory grows with buckets and tenants, not with objects and chunks: the references in manifests
 * and the counts in chunks are compared as sums of hashes, in slices, so that a difference can be searched in one slice.
 */
import { versionKeys } from '../versions/keys.ts'
import { objectKeys } from '../objects/keys.ts'
import { lifecycleKeys } from '../lifecycle/keys.ts'
import type { LifecycleWalkRecord } from '../lifecycle/records.ts'
import { chunkKeys } from '../chunks/keys.ts'
import { bucketKeys } from '../buckets/keys.ts'
import type { Row, View } from '../base/view.ts'
import { kindOf } from '../base/row-key.ts'
import { auditRowKeys } from '../audit/keys.ts'
import { AccessRecount } from './access-recount.ts'
import { NO_HEAD } from '../audit/audit-chain.ts'
import type { AuditSegmentRecord } from '../audit/records.ts'
import { AUDIT_OWNER } from '../base/record-ids.ts'
import type {
  BodyRecord,
  DiscardedBodyRecord,
  DiscardRecord,
  InlineBodyRecord,
  ManifestPageRecord,
  PartPageRecord,
  PartRecord,
  UploadPageRecord,
} from '../bodies/records.ts'
import type { BucketRecord } from '../buckets/records.ts'
import type { ChunkRecord, RepairRecord } from '../chunks/records.ts'
import type { CompletedRecord, IdempotencyRecord, UploadRecord } from '../objects/records.ts'
import type { TenantRecord } from '../tenants/records.ts'
import type { UsageRecord } from '../usage/records.ts'
import type { ChainRecord, VersionRecord } from '../versions/records.ts'
import { figuresOf, taskKey } from '../chunks/chunk-rows.ts'
import { hasLockSetting } from '../versions/locks.ts'
import { KeyRecount } from './key-recount.ts'
import { OutboxRecount } from './outbox-recount.ts'
import { SiteRecount } from './site-recount.ts'
import { copyStatus } from '../chunks/copy-status.ts'
import type { TextHash } from '../base/text-hash.ts'
import { NO_LATER_USAGE, NO_USAGE } from '../usage/usage.ts'

const UNUSED: Required<UsageRecord> = { ...NO_USAGE, ...NO_LATER_USAGE }
const SLICES = 256n
const DIFFERENCES_SHOWN = 16

type BucketCounts = Record<
  'objects' | 'versions' | 'deleteMarkers' | 'bytes' | 'uploads' | 'uploadBytes',
  number
>

interface InBucket {
  readonly bucketId: string
  readonly kind: string
  readonly key: string
}

interface BucketCount {
  readonly row: BucketRecord
  readonly counts: BucketCounts
}

function chainText(bucketId: string, key: string, member: 'marker' | 'null', versionId: string): string {
  return `${bucketId}/${key}/${member}/${versionId}`
}

export class Recount {
  readonly #hash: TextHash
  /** The snapshot that the rows come from. */
  readonly #view: View
  readonly #buckets = new Map<string, BucketCount>()
  readonly #usage = new Map<string, Required<UsageRecord>>()
  readonly #stored = new Map<string, UsageRecord>()
  /** For each tenant, the buckets that exist minus those that its row counts. */
  readonly #bucketsOf = new Map<string, number>()
  /** By slice: references in manifests minus those that chunks count, times the hash of the chunk. */
  readonly #references = new Map<bigint, bigint>()
  /** Hashes of the rows that follow from chunks minus those of the rows that exist. */
  #derived = 0n
  #repairs = 0
  /** Tenants of the buckets of discarded bodies: the rows of those buckets may be gone. */
  readonly #discardedIn = new Map<string, string>()
  /** Counts in bodies minus the rows that exist. */
  readonly #pieces = { links: 0, inlineBodies: 0, parts: 0 }
  /** Counts in uploads, also ended ones, minus the parts that exist. */
  readonly #uploaded = { parts: 0, bytes: 0 }
  /** Hashes of the links from versions to their older neighbours minus those of the links back. */
  #neighbours = 0n
  /** Hashes of the chain rows and due times that follow from versions, uploads and answers minus those that exist. */
  #followed = 0n
  /** Links of the audit log, in segments and in rows. */
  #auditLinks = 0
  readonly #outbox: OutboxRecount
  readonly #sites: SiteRecount
  readonly #access: AccessRecount
  readonly #keys: KeyRecount
  readonly #found: string[] = []
  #foundCount = 0

  constructor(hash: TextHash, view: View) {
    this.#hash = hash
    this.#view = view
    this.#outbox = new OutboxRecount(hash, view)
    this.#sites = new SiteRecount(hash)
    this.#access = new AccessRecount(hash)
    this.#keys = new KeyRecount(view)
  }

  /** Takes every row, in the order of keys: buckets come before their contents. */
  take(key: string, row: Row): void {
    const [kind = '', owner = '', inner = ''] = key.split('\u0000', 3)
    if (kind === 'in') this.#takeInBucket({ bucketId: owner, kind: inner, key }, row)
    else if (kind === 'chunk') this.#takeChunk(row as ChunkRecord)
    else if (kind === 'bucket') this.#takeBucket(row as BucketRecord)
    else if (kind === 'discard') this.#takeDiscard(row as DiscardRecord)
    else if (kind === 'discarded') this.#takeDiscarded(row as DiscardedBodyRecord)
    else if (kind === 'tenant') {
      this.#countBuckets(owner, -(row as TenantRecord).bucketCount)
      this.#keys.takeTenant(owner)
    } else if (kind === 'usage') this.#stored.set(owner, row as UsageRecord)
    else if (kind === 'drop') this.#takeDrop(owner, key)
    else if (kind === 'expiry' || kind === 'lifecycleTurn') this.#followed -= this.#hash(key)
    else if (kind === 'making' || kind === 'condemned' || kind === 'repair') this.#derived -= this.#hash(key)
    if (kind === 'repair') this.#repairs++
    if (kind === 'auditLink') this.#auditLinks++
    if (kind === 'auditSegment') this.#takeSegment(row as AuditSegmentRecord)
    this.#outbox.take(kindOf(key), key, row)
    this.#sites.take(kind, key, row)
    this.#access.take(kind, key, row)
  }

  /** Returns at most DIFFERENCES_SHOWN differences as sentences; one more sentence says how many others there are. */
  finish(): readonly string[] {
    for (const [slice, sum] of this.#references)
      if (sum !== 0n) this.#differ(`references of chunks in slice ${slice} differ from their manifests`)
    if (this.#derived !== 0n) this.#differ('making, condemned or repair rows do not follow from the chunks')
    for (const [what, count] of Object.entries(this.#pieces))
      if (count !== 0) this.#differ(`bodies and their rows differ: ${what} by ${count}`)
    for (const [what, count] of Object.entries(this.#uploaded))
      if (count !== 0) this.#differ(`uploads and their parts differ: ${what} by ${count}`)
    if (this.#neighbours !== 0n) this.#differ('versions do not agree on who is older and who is newer')
    if (this.#followed !== 0n)
      this.#differ(
        'chains, locked versions, CORS rules, lifecycle rules or due times do not follow from what there is',
      )
    const counted = this.#view.get(chunkKeys.repairTotal())?.count ?? 0
    if (counted !== this.#repairs) this.#differ(`${this.#repairs} repair rows are counted as ${counted}`)
    const { first, next } = this.#view.get(auditRowKeys.auditHead()) ?? NO_HEAD
    if (next - first !== this.#auditLinks)
      this.#differ(`${this.#auditLinks} links of the audit log are counted as ${next - first}`)
    for (const { row, counts } of this.#buckets.values()) this.#compareBucket(row, counts)
    for (const [tenantId, difference] of this.#bucketsOf)
      if (difference !== 0)
        this.#differ(`the buckets of tenant "${tenantId}" are miscounted by ${difference}`)
    for (const tenantId of new Set([...this.#usage.keys(), ...this.#stored.keys()]))
      this.#compareUsage(tenantId)
    for (const part of [this.#outbox, this.#sites, this.#access, this.#keys])
      for (const difference of part.finish()) this.#differ(difference)
    const more = this.#foundCount - this.#found.length
    return more === 0 ? this.#found : [...this.#found, `and ${more} more`]
  }

  #takeSegment({ first, next, chunkId }: AuditSegmentRecord): void {
    this.#auditLinks += next - first
    this.#refer(AUDIT_OWNER, chunkId, 1n)
  }

  #takeBucket(row: BucketRecord): void {
    const counts = { objects: 0, versions: 0, deleteMarkers: 0, bytes: 0, uploads: 0, uploadBytes: 0 }
    this.#buckets.set(row.id, { row, counts })
    this.#countBuckets(row.tenantId, 1)
    for (const metadataBytes of Object.values(row.configBytes ?? {}))
      this.#add(row.tenantId, { metadataBytes })
    if (row.hasCors) this.#followed += this.#hash(bucketKeys.cors(row.id))
    if (row.hasLifecycle) this.#followed += this.#hash(lifecycleKeys.lifecycle(row.id))
    this.#outbox.takeBucket(row)
    this.#sites.takeBucket(row)
  }

  #countBuckets(tenantId: string, change: number): void {
    this.#bucketsOf.set(tenantId, (this.#bucketsOf.get(tenantId) ?? 0) + change)
  }

  #takeInBucket({ bucketId, kind, key }: InBucket, row: Row): void {
    switch (kind) {
      case 'cors':
        this.#followed -= this.#hash(bucketKeys.cors(bucketId))
        return
      case 'lifecycle':
        // Its walk row follows from it, and the turn from that.
        this.#followed += this.#hash(lifecycleKeys.lifecycleWalk(bucketId)) - this.#hash(key)
        return
      case 'lifecycleWalk': {
        const { turnAt } = row as LifecycleWalkRecord
        this.#followed += this.#hash(lifecycleKeys.lifecycleTurn(turnAt, bucketId)) - this.#hash(key)
        return
      }
      case 'inlineBody':
        return this.#takeInline(bucketId, row as InlineBodyRecord)
      case 'manifestPage':
        return this.#takeManifest(bucketId, row as ManifestPageRecord)
      case 'object':
        this.#count(bucketId, { objects: 1 })
        return this.#takeVersion(bucketId, row as VersionRecord, true)
      case 'version':
        return this.#takeVersion(bucketId, row as VersionRecord, false)
      case 'lockedVersion':
        this.#followed -= this.#hash(key)
        return
      case 'chain':
        return this.#takeChain(bucketId, key, row as ChainRecord)
      case 'idempotency':
        return this.#expectEnd(row as IdempotencyRecord, (row as IdempotencyRecord).object.versionId)
      case 'completed':
        return this.#expectEnd(row as CompletedRecord, key.slice(key.lastIndexOf('\u0000') + 1))
      case 'bucketPolicy':
        if (!this.#buckets.has(bucketId)) this.#differ('there is a policy of a bucket that is gone')
        return
      case 'bucketTags':
        if (!this.#buckets.has(bucketId)) this.#differ('there are tags of a bucket that is gone')
        return
      case 'upload':
        return this.#takeUpload(bucketId, row as UploadRecord)
      case 'uploadPage':
        for (const part of (row as UploadPageRecord).parts) this.#takePart(part)
        return
      case 'partPage':
        for (const { body } of (row as PartPageRecord).parts) {
          this.#pieces.parts--
          this.#expect(body)
        }
    }
  }

  #takeVersion(bucketId: string, version: VersionRecord, isCurrent: boolean): void {
    const { key, versionId, older, newer, isNull } = version
    const pair = (newerId: string, olderId: string) => this.#hash(`${bucketId}/${key}/${newerId}/${olderId}`)
    if (older !== null) this.#neighbours += pair(versionId, older)
    if (newer !== null) this.#neighbours -= pair(newer, versionId)
    if (isCurrent !== (version.kind === 'object' && newer === null))
      this.#differ('a version lies in the row of another kind')
    if (newer === null && !isCurrent)
      this.#followed += this.#hash(chainText(bucketId, key, 'marker', versionId))
    if (hasLockSetting(version))
      this.#followed += this.#hash(versionKeys.lockedVersion(bucketId, key, versionId))
    if (isNull && !isCurrent) this.#followed += this.#hash(chainText(bucketId, key, 'null', versionId))
    const { metadataBytes = 0 } = version
    if (version.kind === 'deleteMarker') return this.#count(bucketId, { deleteMarkers: 1 }, metadataBytes)
    this.#count(bucketId, { versions: 1, bytes: version.size }, metadataBytes)
    this.#expect(version.body)
  }

  #takeChain(bucketId: string, rowKey: string, { marker, nullVersion }: ChainRecord): void {
    const key = rowKey.slice(rowKey.lastIndexOf('\u0000') + 1)
    if (marker !== null) this.#followed -= this.#hash(chainText(bucketId, key, 'marker', marker))
    if (nullVersion !== null) this.#followed -= this.#hash(chainText(bucketId, key, 'null', nullVersion))
  }

  #takeUpload(bucketId: string, upload: UploadRecord): void {
    this.#count(bucketId, { uploads: 1, uploadBytes: upload.bytes }, upload.metadataBytes)
    this.#expectParts(upload)
    this.#expectEnd(upload, upload.uploadId)
  }

  #takePart({ size, body }: PartRecord): void {
    this.#uploaded.parts--
    this.#uploaded.bytes -= size
    this.#expect(body)
  }

  #expectParts({ partCount, bytes }: Pick<UploadRecord, 'partCount' | 'bytes'>): void {
    this.#uploaded.parts += partCount
    this.#uploaded.bytes += bytes
  }

  #expectEnd({ expiresAt }: { readonly expiresAt: number }, id: string): void {
    this.#followed += this.#hash(objectKeys.expiry(expiresAt, id))
  }

  #takeDiscard({ bucketId, tenantId, what }: DiscardRecord): void {
    this.#discardedIn.set(bucketId, tenantId)
    if (what.kind === 'body') this.#expect(what.body)
    else this.#expectParts(what)
  }

  #takeDiscarded({ bucketId, tenantId, body }: DiscardedBodyRecord): void {
    this.#discardedIn.set(bucketId, tenantId)
    this.#expect(body)
  }

  #expect(body: BodyRecord): void {
    if (body.kind === 'inline') this.#pieces.inlineBodies++
    if (body.kind === 'chunks') this.#pieces.links += body.count
    if (body.kind === 'parts') this.#pieces.parts += body.count
  }

  #takeInline(bucketId: string, row: InlineBodyRecord): void {
    const tenantId = this.#tenantOf(bucketId)
    if (tenantId === undefined) return
    this.#pieces.inlineBodies--
    this.#add(tenantId, { inlineBytes: row.sealed.length })
    this.#keys.takeInline(tenantId, row)
  }

  #takeManifest(bucketId: string, { links }: ManifestPageRecord): void {
    const tenantId = this.#tenantOf(bucketId)
    if (tenantId === undefined) return
    this.#pieces.links -= links.length
    for (const { id } of links) this.#refer(tenantId, id, 1n)
  }

  #count(bucketId: string, change: Partial<BucketCounts>, metadataBytes = 0): void {
    const bucket = this.#buckets.get(bucketId)
    if (bucket === undefined) return this.#differ(`something is stored in a bucket that is not there`)
    for (const figure of Object.keys(change) as (keyof BucketCounts)[])
      bucket.counts[figure] += change[figure] ?? 0
    const { bytes: logicalBytes = 0, ...same } = change
    this.#add(bucket.row.tenantId, { ...same, logicalBytes, metadataBytes })
  }

  /** Discarded bodies may outlive their bucket for a while; the row of the discarded body names the tenant. */
  #tenantOf(bucketId: string): string | undefined {
    const tenantId = this.#buckets.get(bucketId)?.row.tenantId ?? this.#discardedIn.get(bucketId)
    if (tenantId === undefined) this.#differ('bytes lie in a bucket that is not there')
    return tenantId
  }

  #compareBucket(row: BucketRecord, counts: BucketCounts): void {
    const counted: BucketCounts = {
      objects: row.objectCount,
      versions: row.versionCount,
      deleteMarkers: row.deleteMarkerCount,
      bytes: row.logicalBytes,
      uploads: row.uploadCount,
      uploadBytes: row.uploadBytes,
    }
    for (const figure of Object.keys(counts) as (keyof BucketCounts)[])
      if (counts[figure] !== counted[figure])
        this.#differ(`bucket "${row.id}": ${figure} is ${counts[figure]} and counted as ${counted[figure]}`)
  }

  #takeChunk(chunk: ChunkRecord): void {
    const { id, tenantId, birth, references, condemnedAt, replicas, owed } = chunk
    this.#refer(tenantId, id, -BigInt(references))
    this.#add(tenantId, figuresOf(chunk))
    this.#keys.takeChunk(chunk)
    this.#derived += this.#hash(chunkKeys.making(birth, id))
    if (condemnedAt !== null) this.#derived += this.#hash(chunkKeys.condemned(condemnedAt, tenantId, id))
    for (const target of owed) {
      this.#derived += this.#hash(taskKey(chunk, target))
      const task: RepairRecord | undefined = this.#view.get(taskKey(chunk, target))
      if (task?.birth !== birth || task.target !== target)
        this.#differ(`chunk "${id}" owes a copy without a task`)
    }
    if ((references === 0) !== (condemnedAt !== null)) this.#differ(`chunk "${id}" is condemned wrongly`)
    const holders = [...replicas, ...owed]
    if (replicas.length === 0 || new Set(holders).size !== holders.length)
      this.#differ(`chunk "${id}" lists no copy, or one twice`)
  }

  #takeDrop(node: string, key: string): void {
    const [, , birth = '', id = ''] = key.split('\u0000')
    const status = copyStatus(this.#view, { id, birth }, node)
    if (status !== 'dropping')
      this.#differ(`a copy of "${id}" that is ${status} is to be removed from "${node}"`)
  }

  #refer(tenantId: string, id: string, count: bigint): void {
    const hash = this.#hash(`${tenantId}/${id}`)
    const slice = hash % SLICES
    this.#references.set(slice, (this.#references.get(slice) ?? 0n) + count * hash)
  }

  #add(tenantId: string, change: Partial<UsageRecord>): void {
    const row: Record<keyof UsageRecord, number> = this.#usage.get(tenantId) ?? { ...UNUSED }
    for (const figure of Object.keys(change) as (keyof UsageRecord)[]) row[figure] += change[figure] ?? 0
    this.#usage.set(tenantId, row)
  }

  #compareUsage(tenantId: string): void {
    const counted = this.#usage.get(tenantId) ?? UNUSED
    const stored = { ...UNUSED, ...this.#stored.get(tenantId) }
    for (const figure of Object.keys(UNUSED) as (keyof UsageRecord)[])
      if (counted[figure] !== stored[figure])
        this.#differ(
          `usage of tenant "${tenantId}": ${figure} is ${counted[figure]} and counted as ${stored[figure]}`,
        )
  }

  #differ(what: string): void {
    this.#foundCount++
    if (this.#found.length < DIFFERENCES_SHOWN) this.#found.push(what)
  }
}
