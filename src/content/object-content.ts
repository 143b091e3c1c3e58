/**
 * The object pipeline of this node: ingest and read behind one port.
 *
 * Owns: what all requests share: the open keys, memory and slots for chunks, the threads. ingest.ts and read-content.ts
 * do the work.
 */
import assert from 'node:assert/strict'
import type { KeyObject } from 'node:crypto'
import type { Blobs, MetricSample, Trace } from '../../cluster/index.ts'
import type { MasterKey } from '../access/master-key.ts'
import type { Config } from '../config/types.ts'
import type { TenantRecord } from '../state-machine/tenants/records.ts'
import type { View } from '../state-machine/base/view.ts'
import type { ChunkRecord } from '../state-machine/chunks/records.ts'
import type { ResealedChunk } from '../state-machine/key-exchange/commands.ts'
import type { TenantId } from '../state-machine/base/record-ids.ts'
import type { CustomerSeal } from '../state-machine/bodies/records.ts'
import { CUSTOMER_KEY_VERSION } from '../state-machine/tenants/data-keys.ts'
import { checkCustomerKey, newCustomerKeys, openedBy } from './customer-keys.ts'
import type { KeyRing, VersionedKeys } from './key-ring.ts'
import { ChunkKeys } from './chunk-keys.ts'
import { ChunkSealer } from './chunk-sealer.ts'
import { Downloads } from './downloads.ts'
import { FrameBuffers } from './frame-buffers.ts'
import { UploadMemory } from './upload-memory.ts'
import { CHUNK_BYTES, ChunkSlots } from './chunk-slots.ts'
import type { Content, IngestedBody, IngestRequest, PinnedObject } from './content.ts'
import { ingest } from './ingest.ts'
import { Md5Pool } from './md5-pool.ts'
import type { ByteRange } from './range.ts'
import { readContent, readInlineContent, type ReadParts } from './read-content.ts'
import { type InlineToReseal, resealChunk, resealInline } from './resealing.ts'
import { SealingPool, threadCount } from './sealing-pool.ts'
import { uploadSamples } from './upload-samples.ts'
import type { Uploads } from './uploads.ts'
import { tenantKeys } from '../state-machine/tenants/keys.ts'

export interface ObjectContentParts {
  readonly blobs: Pick<Blobs, 'write' | 'copiesToAck' | 'copies' | 'reading' | 'report'>
  readonly uploads: Uploads
  readonly state: View
  readonly masterKey: MasterKey
  readonly config: Pick<Config, 'limits' | 'content'>
  /** Brings `state` up to date. Throws Condition. */
  readonly readBarrier: () => Promise<void>
  /** Counts what is read. Absent: no part asks for the count. */
  readonly downloads?: Downloads
  /** Monotonic, in milliseconds. Absent: the clock of the process. */
  readonly now?: () => number
  /** Absent: nothing is traced. */
  readonly trace?: Trace | null
}

export class ObjectContent implements Content {
  readonly #parts: ObjectContentParts
  readonly #keys: ChunkKeys
  readonly #slots: ChunkSlots
  readonly #buffers = new FrameBuffers()
  readonly #now: () => number
  readonly #downloads: Downloads
  /** Shared by all uploads of this node. */
  readonly memory: UploadMemory
  readonly #pool: SealingPool
  readonly #sealer: ChunkSealer
  readonly #md5: Md5Pool

  constructor(parts: ObjectContentParts) {
    this.#parts = parts
    this.#keys = new ChunkKeys(parts.masterKey)
    this.#downloads = parts.downloads ?? new Downloads()
    const { limits, content } = parts.config
    this.#now = parts.now ?? (() => performance.now())
    this.#slots = new ChunkSlots(limits.chunkBuffersMax)
    this.memory = new UploadMemory({
      bytesMax: limits.uploadMemoryBytesMax,
      speedMin: limits.contendedBytesPerSecondMin,
      now: this.#now,
    })
    const threads = threadCount(content.sealingThreads)
    this.#pool = new SealingPool({ threads, jobsMax: limits.chunkBuffersMax })
    // At most one upload on each connection.
    this.#md5 = new Md5Pool({ threads, bodiesMax: limits.connectionsMax })
    this.#sealer = new ChunkSealer(this.#pool, parts.trace)
  }

  /** Whole chunks of uploads that are sealed and stored now; at most limits.chunkBuffersMax. */
  get chunksHeld(): number {
    return this.#slots.held
  }

  /** What uploads hold in shared memory, which the runtime counts neither with its heap nor beside it. Bytes. */
  get heldBytes(): number {
    return this.memory.bytes + this.#slots.held * CHUNK_BYTES
  }

  /** For /metrics. */
  samples(): readonly MetricSample[] {
    return uploadSamples(this.memory, this.chunksHeld)
  }

  async ingest(request: IngestRequest): Promise<IngestedBody> {
    const { blobs, uploads, state, config } = this.#parts
    const { keys, version: keyVersion } = this.#sealing(request)
    // Everything but chunks may be sealed again with the tenant's next key, by which such bytes do not open.
    const inlineBytesMax = request.customer === undefined ? config.limits.inlineBytesMax : 0
    const { compression } = config.content
    const [slots, sealer, md5, buffers] = [this.#slots, this.#sealer, this.#md5, this.#buffers]
    const shared = { slots, sealer, md5, memory: this.memory, buffers }
    const parts = { blobs, uploads, state, keys, keyVersion, ...shared, now: this.#now }
    const etag = request.customer === undefined ? request.etag : 'content'
    return ingest({ ...request, etag }, { ...parts, inlineBytesMax, compression })
  }

  customerSeal(tenant: TenantRecord, key: KeyObject, again?: string): CustomerSeal {
    return newCustomerKeys(this.#keys.of(tenant).present.keys, key, again).seal
  }

  checkCustomerKey(
    tenant: TenantRecord,
    key: KeyObject | undefined,
    sealed: { readonly key: string; readonly customerSeal?: CustomerSeal },
  ): void {
    if (key === undefined && sealed.customerSeal === undefined) return
    checkCustomerKey(this.#keys.of(tenant).present.keys, key, sealed)
  }

  #sealing({ tenant, customer }: IngestRequest): VersionedKeys {
    const { present } = this.#keys.of(tenant)
    if (customer === undefined) return present
    const keys = openedBy(present.keys, customer.key, customer.seal)
    assert(keys !== null, 'the key was compared with the seal before')
    return { keys, version: CUSTOMER_KEY_VERSION }
  }

  read(tenant: TenantRecord, object: PinnedObject, range: ByteRange): AsyncIterable<Uint8Array> {
    return this.#downloads.counted(readContent(this.#readParts(tenant, object), range))
  }

  /** A download that ends in the call that starts it: it is not counted. */
  readAtHand(tenant: TenantRecord, object: PinnedObject, range: ByteRange): Uint8Array {
    return readInlineContent(this.#readParts(tenant, object), range)
  }

  #readParts(tenant: TenantRecord, { bucketId, object, pinned, customerKey }: PinnedObject): ReadParts {
    const { blobs, state, readBarrier } = this.#parts
    const ring = this.#keys.of(tenant)
    // What was sealed again since is opened with the key that the tenant has now.
    const customer = checkCustomerKey(ring.present.keys, customerKey, object)
    const keys = (version: number) =>
      version === CUSTOMER_KEY_VERSION
        ? (customer ?? undefined)
        : (ring.of(version) ?? this.#ringOf(tenant.id)?.of(version))
    return { tenantId: tenant.id, bucketId, object, pinned, blobs, state, keys, readBarrier }
  }

  /** `birth`: of the new copies. Null: the chunk is gone or was made again. Throws Condition, SealBrokenError. */
  async resealChunk(
    tenant: TenantRecord,
    row: ChunkRecord,
    birth: string,
    signal: AbortSignal,
  ): Promise<ResealedChunk | null> {
    const { blobs, state, readBarrier } = this.#parts
    const [slots, sealer, buffers] = [this.#slots, this.#sealer, this.#buffers]
    const parts = { blobs, state, readBarrier, slots, sealer, buffers, ring: this.#keys.of(tenant) }
    return resealChunk(row, birth, signal, parts)
  }

  /** Throws SealBrokenError. */
  resealInline(tenant: TenantRecord, body: InlineToReseal): Uint8Array {
    return resealInline(this.#keys.of(tenant), body)
  }

  #ringOf(id: TenantId): KeyRing | undefined {
    const tenant = this.#parts.state.get(tenantKeys.tenant(id))
    return tenant === undefined || tenant.dataKey.length === 0 ? undefined : this.#keys.of(tenant)
  }

  /** Call it periodically: a row may change although the tenant is not used again. */
  forgetChangedKeys(): void {
    this.#keys.forgetChanged((id) => this.#parts.state.get(tenantKeys.tenant(id)))
  }

  /** Bodies whose MD5 a thread keeps now. */
  get bodiesHashed(): number {
    return this.#md5.bodies
  }

  /** Ends the threads once their requests are done. */
  async close(): Promise<void> {
    await Promise.all([this.#pool.close(), this.#md5.close()])
  }
}
