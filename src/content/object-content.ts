/**
 * The object pipeline of this node: ingest and read behind one port.
 *
 * Owns: what all requests share: the open keys, the slots for chunks, the sealing threads. ingest.ts and read-content.ts
 * do the work.
 */
import type { Blobs } from '../../cluster/index.ts'
import type { MasterKey } from '../access/master-key.ts'
import type { Config } from '../config/types.ts'
import type { TenantRecord } from '../state-machine/tenants/records.ts'
import type { View } from '../state-machine/base/view.ts'
import { ChunkKeys } from './chunk-keys.ts'
import { ChunkSealer } from './chunk-sealer.ts'
import { ChunkSlots } from './chunk-slots.ts'
import type { Content, IngestedBody, IngestRequest, PinnedObject } from './content.ts'
import { ingest } from './ingest.ts'
import type { ByteRange } from './range.ts'
import { readContent } from './read-content.ts'
import { SealingPool } from './sealing-pool.ts'
import type { Uploads } from './uploads.ts'
import { tenantKeys } from '../state-machine/tenants/keys.ts'

export interface ObjectContentParts {
  readonly blobs: Pick<Blobs, 'write' | 'copiesToAck' | 'reading' | 'report'>
  readonly uploads: Uploads
  readonly state: View
  readonly masterKey: MasterKey
  readonly config: Pick<Config, 'limits' | 'content'>
}

export class ObjectContent implements Content {
  readonly #parts: ObjectContentParts
  readonly #keys: ChunkKeys
  readonly #slots: ChunkSlots
  readonly #pool: SealingPool
  readonly #sealer: ChunkSealer

  constructor(parts: ObjectContentParts) {
    this.#parts = parts
    this.#keys = new ChunkKeys(parts.masterKey)
    const { limits, content } = parts.config
    this.#slots = new ChunkSlots(limits.chunkBuffersMax)
    this.#pool = new SealingPool({ threads: content.sealingThreads, jobsMax: limits.chunkBuffersMax })
    this.#sealer = new ChunkSealer(this.#pool)
  }

  /** Chunks of uploads that are now between socket and disk; at most limits.chunkBuffersMax. */
  get chunksHeld(): number {
    return this.#slots.held
  }

  async ingest(request: IngestRequest): Promise<IngestedBody> {
    const { blobs, uploads, state, config } = this.#parts
    const keys = this.#keys.of(request.tenant)
    const { inlineBytesMax } = config.limits
    const { compression } = config.content
    const [slots, sealer] = [this.#slots, this.#sealer]
    return ingest(request, { blobs, uploads, state, keys, slots, sealer, inlineBytesMax, compression })
  }

  read(
    tenant: TenantRecord,
    { bucketId, object, pinned }: PinnedObject,
    range: ByteRange,
  ): AsyncIterable<Uint8Array> {
    const { blobs, state } = this.#parts
    const keys = this.#keys.of(tenant)
    return readContent({ tenantId: tenant.id, bucketId, object, pinned, blobs, state, keys }, range)
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
