/**
 * The object pipeline of this node: ingest and read behind one port.
 *
 * Owns: what all requests share, the keys that are open and the slots for chunks. The work is done in ingest.ts and
 * read-content.ts.
 */
import type { Blobs } from '../../cluster/index.ts'
import type { MasterKey } from '../access/master-key.ts'
import type { Config } from '../config/types.ts'
import type { TenantRecord } from '../state-machine/tenants/records.ts'
import type { StateReader } from '../store/reads/state-reader.ts'
import { ChunkKeys } from './chunk-keys.ts'
import { ChunkSealer } from './chunk-sealer.ts'
import { ChunkSlots } from './chunk-slots.ts'
import type { Content, IngestedBody, IngestRequest, PinnedObject } from './content.ts'
import { ingest } from './ingest.ts'
import type { ByteRange } from './range.ts'
import { readContent } from './read-content.ts'
import { SealingPool } from './sealing-pool.ts'
import type { Uploads } from './uploads.ts'

export interface ObjectContentParts {
  readonly blobs: Pick<Blobs, 'write' | 'copiesToAck' | 'reading' | 'report'>
  readonly uploads: Uploads
  readonly state: Pick<StateReader, 'chunk' | 'inlineBody' | 'manifest' | 'objectParts' | 'tenant'>
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

  /** Chunks of uploads between socket and disk now; never more than limits.chunkBuffersMax. */
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

  /** To be called now and then: a row may change without anybody using the tenant again. */
  forgetChangedKeys(): void {
    this.#keys.forgetChanged((id) => this.#parts.state.tenant(id))
  }

  /** Ends the sealing threads once what they have is done. */
  close(): Promise<void> {
    return this.#pool.close()
  }
}
