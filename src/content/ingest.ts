/**
 * One pass over the bytes of an upload: count, digest, cut, name, seal, place.
 *
 * Owns: the order. Knows nothing of: buckets and keys; the caller commits what this returns.
 * Rules: a body is returned only when every digest holds and every chunk is durable, or already was. What was placed
 * for an upload that fails is named by no committed row: it costs space and nothing else.
 */
import type { Blobs } from '../../cluster/index.ts'
import type { ChunkId, TenantId } from '../state-machine/base/record-ids.ts'
import type { ChunkUse } from '../state-machine/chunks/commands.ts'
import type { ChunkRecord } from '../state-machine/chunks/records.ts'
import type { StateReader } from '../store/reads/state-reader.ts'
import { BodyReader } from './body-reader.ts'
import type { ChunkSlot, ChunkSlots } from './chunk-slots.ts'
import type { IngestedBody, IngestRequest } from './content.ts'
import { etagOf } from './etag.ts'
import type { ChunkSealer } from './chunk-sealer.ts'
import { type Compression, sealPlain } from './sealing.ts'
import { releaseBytes } from './spent-bytes.ts'
import type { TenantKeys } from './tenant-keys.ts'
import type { Upload, Uploads } from './uploads.ts'

/** Of one upload: while one chunk is being placed the next one fills. */
const CHUNKS_IN_FLIGHT_MAX = 2

export interface IngestParts {
  readonly blobs: Pick<Blobs, 'write' | 'copiesToAck'>
  readonly uploads: Uploads
  readonly state: Pick<StateReader, 'chunk'>
  readonly keys: TenantKeys
  readonly slots: ChunkSlots
  readonly sealer: ChunkSealer
  readonly inlineBytesMax: number
  /** What new chunks may be: `zstd` where it pays. */
  readonly compression: Compression
}

export async function ingest(request: IngestRequest, parts: IngestParts): Promise<IngestedBody> {
  const failure = new AbortController()
  const signal = AbortSignal.any([request.signal, failure.signal])
  const reader = new BodyReader({ ...request, signal })
  const head = await readHead(reader, parts.inlineBytesMax)
  if (head.length <= parts.inlineBytesMax) return smallBody(head, reader, parts.keys)
  const upload = await parts.uploads.begin()
  try {
    const chunks = await new ChunkUpload(request.tenant.id, { ...parts, upload }, failure).run(
      reader,
      head,
      signal,
    )
    return {
      size: reader.size,
      etag: etagOf(chunks.map((chunk) => chunk.id)),
      checksums: reader.verified(),
      body: { kind: 'chunks', chunks, copiesMin: parts.blobs.copiesToAck },
      end: (outcome) => upload.end(outcome),
    }
  } catch (error) {
    upload.end('known')
    throw error
  }
}

/** One byte more than fits inline, or the whole body: what decides without taking a slot. */
async function readHead(reader: BodyReader, inlineBytesMax: number): Promise<Buffer> {
  const head = Buffer.allocUnsafeSlow(inlineBytesMax + 1)
  let end = 0
  while (end < head.length && (await reader.hasMore())) end = reader.moveTo(head, end)
  return head.subarray(0, end)
}

function smallBody(plain: Buffer, reader: BodyReader, keys: TenantKeys): IngestedBody {
  const checksums = reader.verified()
  const size = plain.length
  const end = () => undefined
  if (size === 0) return { size, etag: etagOf([]), checksums, body: { kind: 'empty' }, end }
  const chunkId = keys.chunkIdOf(plain)
  const sealed = sealPlain(keys, chunkId, plain)
  return { size, etag: etagOf([chunkId]), checksums, body: { kind: 'inline', chunkId, sealed }, end }
}

interface ChunkUploadParts extends IngestParts {
  readonly upload: Upload
}

class ChunkUpload {
  readonly #tenantId: TenantId
  readonly #parts: ChunkUploadParts
  readonly #failure: AbortController
  readonly #uses: Promise<ChunkUse>[] = []
  /** A body may hold the same chunk many times; it is placed once, under one birth. */
  readonly #byId = new Map<ChunkId, Promise<ChunkUse>>()

  constructor(tenantId: TenantId, parts: ChunkUploadParts, failure: AbortController) {
    this.#tenantId = tenantId
    this.#parts = parts
    this.#failure = failure
  }

  /** Settles only when no chunk of this upload is in flight any more. */
  async run(reader: BodyReader, head: Buffer, signal: AbortSignal): Promise<readonly ChunkUse[]> {
    try {
      let start = head
      while (start.length > 0 || (await reader.hasMore())) {
        await this.#uses.at(-CHUNKS_IN_FLIGHT_MAX)
        await this.#nextChunk(reader, start, await this.#parts.slots.acquire(signal))
        start = start.subarray(start.length)
      }
      return await Promise.all(this.#uses)
    } catch (error) {
      await Promise.allSettled(this.#uses)
      throw error
    }
  }

  async #nextChunk(reader: BodyReader, start: Buffer, slot: ChunkSlot): Promise<void> {
    try {
      const plain = await fill(reader, start, slot.plain)
      const use = this.#use(plain, slot).finally(() => slot.release())
      // A failed chunk stops the reading at once; the error itself is thrown by whoever waits for the use.
      use.catch((error: unknown) => this.#failure.abort(error))
      this.#uses.push(use)
    } catch (error) {
      slot.release()
      throw error
    }
  }

  async #use(plain: Buffer, slot: ChunkSlot): Promise<ChunkUse> {
    const { keys, sealer, state } = this.#parts
    const id = await sealer.nameOf(keys, plain)
    const row = state.chunk(this.#tenantId, id)
    const known = this.#byId.get(id) ?? this.#existing(row)
    if (known !== null) {
      slot.release()
      return known
    }
    const use = this.#place({ id, plain, slot })
    this.#byId.set(id, use)
    return use
  }

  /**
   * Stored by an earlier upload. A condemned one is about to be collected and is written again, so that the commit
   * hardly ever finds it gone; if it is still there then, it is revived all the same.
   */
  #existing(row: ChunkRecord | undefined): Promise<ChunkUse> | null {
    if (row === undefined || row.condemnedAt !== null) return null
    if (row.replicas.length < this.#parts.blobs.copiesToAck) return null
    return Promise.resolve(asExisting(row))
  }

  /**
   * Always under a birth of its own: a copy under the birth of a row is made with a committed task only, or it could
   * come to a disk that is about to remove that very copy. The commit takes over a row that has too few copies.
   */
  async #place({ id, plain, slot }: FilledChunk): Promise<ChunkUse> {
    const { blobs, keys, sealer, upload, compression } = this.#parts
    const size = plain.length
    const { sealed, checksum } = await sealer.seal(keys, { id, plain }, compression)
    const sealedSize = sealed.length
    slot.dropPlain()
    const birth = upload.newBirth()
    // To the machine below a chunk is a blob, and its id only a name.
    const blobId: string = id
    const onSpent = (): void => releaseBytes(sealed)
    const { replicas, missing } = await blobs.write({ id: blobId, birth, bytes: sealed, checksum, onSpent })
    return { id, size, birth, sealedSize, checksum, existing: false, replicas, missing }
  }
}

interface FilledChunk {
  readonly id: ChunkId
  readonly plain: Buffer
  readonly slot: ChunkSlot
}

async function fill(reader: BodyReader, start: Buffer, buffer: Buffer): Promise<Buffer> {
  let end = start.copy(buffer)
  while (end < buffer.length && (await reader.hasMore())) end = reader.moveTo(buffer, end)
  return buffer.subarray(0, end)
}

/** The commit counts on it, or says that it is gone or has too few copies. */
function asExisting({ id, birth, size, sealedSize, checksum }: ChunkRecord): ChunkUse {
  return { id, birth, size, sealedSize, checksum, existing: true, replicas: [], missing: [] }
}
