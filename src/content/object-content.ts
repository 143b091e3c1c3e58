/**
 * The object pipeline of this node: ingest and read behind one port.
 *
 * Owns: what all requests share: the open keys, memory and slots for chunks, the sealing threads. ingest.ts and read-content.ts
 * do the work.
 */
import type { Blobs, MetricSample } from '../../cluster/index.ts'
import type { MasterKey } from '../access/master-key.ts'
import type { Config } from '../config/types.ts'
import type { TenantRecord } from '../state-machine/tenants/records.ts'
import type { View } from '../state-machine/base/view.ts'
import { ChunkKeys } from './chunk-keys.ts'
import { ChunkSealer } from './chunk-sealer.ts'
import { Downloads } from './downloads.ts'
import { FrameBuffers } from './frame-buffers.ts'
import { UploadMemory } from './upload-memory.ts'
import { ChunkSlots } from './chunk-slots.ts'
import type { Content, IngestedBody, IngestRequest, PinnedObject } from './content.ts'
import { ingest } from './ingest.ts'
import type { ByteRange } from './range.ts'
import { readContent } from './read-content.ts'
import { SealingPool } from './sealing-pool.ts'
import { uploadSamples } from './upload-samples.ts'
import type { Uploads } from './uploads.ts'
import { tenantKeys } from '../state-machine/tenants/keys.ts'

export interface ObjectContentParts {
  readonly blobs: Pick<Blobs, 'write' | 'copiesToAck' | 'reading' | 'report'>
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
    this.#pool = new SealingPool({ threads: content.sealingThreads, jobsMax: limits.chunkBuffersMax })
    this.#sealer = new ChunkSealer(this.#pool)
  }

  /** Whole chunks of uploads that are sealed and stored now; at most limits.chunkBuffersMax. */
  get chunksHeld(): number {
    return this.#slots.held
  }

  /** For /metrics. */
  samples(): readonly MetricSample[] {
    return uploadSamples(this.memory, this.chunksHeld)
  }

  async ingest(request: IngestRequest): Promise<IngestedBody> {
    const { blobs, uploads, state, config } = this.#parts
    const keys = this.#keys.of(request.tenant)
    const { inlineBytesMax } = config.limits
    const { compression } = config.content
    const shared = { slots: this.#slots, sealer: this.#sealer, memory: this.memory, buffers: this.#buffers }
    const parts = { blobs, uploads, state, keys, ...shared, now: this.#now }
    return ingest(request, { ...parts, inlineBytesMax, compression })
  }

  read(
    tenant: TenantRecord,
    { bucketId, object, pinned }: PinnedObject,
    range: ByteRange,
  ): AsyncIterable<Uint8Array> {
    const { blobs, state, readBarrier } = this.#parts
    const keys = this.#keys.of(tenant)
    const parts = { tenantId: tenant.id, bucketId, object, pinned, blobs, state, keys, readBarrier }
    return this.#downloads.counted(readContent(parts, range))
  }

  /** Call it periodically: a row may change although the tenant is not used again. */
  forgetChangedKeys(): void {
    this.#keys.forgetChanged((id) => this.#parts.state.get(tenantKeys.tenant(id)))
  }

  /** Ends the sealing threads once their requests are done. */
  close(): Promise<void> {
    return this.#pool.close()
  }
}
