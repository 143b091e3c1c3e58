/**
 * Processes the bytes of an upload in one pass: count, digest, cut, name, hash, seal, place.
 *
 * Owns: the order. Knows nothing of: buckets and keys; the caller commits what this returns.
 * Rules: a body is returned only when every digest matches and every chunk is durable. No committed row names the chunks of a
 * failed upload: they only use space until they are removed.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { Blobs } from '../../cluster/index.ts'
import type { ChunkId, TenantId } from '../state-machine/base/record-ids.ts'
import { mayHold } from '../state-machine/members/members.ts'
import type { ChunkUse } from '../state-machine/chunks/commands.ts'
import type { ChunkRecord } from '../state-machine/chunks/records.ts'
import type { View } from '../state-machine/base/view.ts'
import { BodyReader } from './body-reader.ts'
import type { ChunkSlot, ChunkSlots } from './chunk-slots.ts'
import { ClientSpeed } from './client-speed.ts'
import { CollectedChunk } from './collected-chunk.ts'
import type { IngestedBody, IngestRequest } from './content.ts'
import { etagOf } from './etag.ts'
import type { FrameBuffers } from './frame-buffers.ts'
import type { UploadMemory } from './upload-memory.ts'
import type { BodyMd5, Md5Pool } from './md5-pool.ts'
import type { ChunkSealer } from './chunk-sealer.ts'
import { type Compression, sealPlain } from './sealing.ts'
import type { UploadCaller } from './memory-shares.ts'
import type { TenantKeys } from './tenant-keys.ts'
import type { Upload, Uploads } from './uploads.ts'
import { keyVersionMember } from '../state-machine/tenants/data-keys.ts'
import { chunkKeys } from '../state-machine/chunks/keys.ts'

/** For each upload: while one chunk is being placed the next one collects. */
const CHUNKS_IN_FLIGHT_MAX = 2
const NO_BYTES = Buffer.alloc(0)

export interface IngestParts {
  readonly blobs: Pick<Blobs, 'write' | 'copiesToAck'>
  readonly uploads: Uploads
  readonly state: View
  /** Of the key that seals new writes. */
  readonly keys: TenantKeys
  readonly keyVersion: number
  readonly slots: ChunkSlots
  readonly memory: UploadMemory
  readonly buffers: FrameBuffers
  /** Monotonic, in milliseconds. */
  readonly now: () => number
  readonly sealer: ChunkSealer
  readonly md5: Md5Pool
  readonly inlineBytesMax: number
  /** Compression of new chunks: `zstd` is used where it pays. */
  readonly compression: Compression
}

export async function ingest(request: IngestRequest, parts: IngestParts): Promise<IngestedBody> {
  const { source } = request
  const speed = new ClientSpeed(() => source.heldMs?.() ?? 0)
  const reader = new BodyReader(request, { speed, now: parts.now })
  const head = await readHead(reader, request.expectedSize, parts.inlineBytesMax)
  if (head.length <= parts.inlineBytesMax) return smallBody(head, reader, { request, ...parts })
  // Nothing but the client ends the reading of a small body; a chunk that cannot be stored ends that of a large one.
  const failure = new AbortController()
  const signal = AbortSignal.any([request.signal, failure.signal])
  reader.stopOn(signal)
  const upload = await parts.uploads.begin()
  try {
    const uploading = new ChunkUpload(request, { ...parts, upload, speed, signal }, failure)
    const { chunks, md5 } = await uploading.run(reader, head)
    return {
      size: reader.size,
      ...tagsOf(
        request,
        chunks.map((chunk) => chunk.id),
        md5,
      ),
      checksums: reader.verified(md5),
      body: { kind: 'chunks', chunks, copiesMin: parts.blobs.copiesToAck },
      end: (outcome) => upload.end(outcome),
    }
  } catch (error) {
    upload.end('known')
    throw error
  }
}

/** Reads one byte more than fits inline, or the whole body: that decides the kind of body without taking memory of all uploads. */
async function readHead(
  reader: BodyReader,
  expectedSize: number | null,
  inlineBytesMax: number,
): Promise<Buffer> {
  // The reader refuses a body that is longer than announced.
  const head = Buffer.allocUnsafe(Math.min(inlineBytesMax + 1, expectedSize ?? Infinity))
  let end = 0
  while (end < head.length && (await reader.hasMore())) end = reader.moveTo(head, end)
  if (end === head.length && end <= inlineBytesMax) await reader.hasMore()
  return head.subarray(0, end)
}

function smallBody(
  plain: Buffer,
  reader: BodyReader,
  {
    request,
    keys,
    keyVersion,
  }: Pick<IngestParts, 'keys' | 'keyVersion'> & { readonly request: IngestRequest },
): IngestedBody {
  const md5 = needsMd5(request) ? createHash('md5').update(plain).digest() : null
  const checksums = reader.verified(md5)
  const size = plain.length
  const end = () => undefined
  if (size === 0) return { size, ...tagsOf(request, [], md5), checksums, body: { kind: 'empty' }, end }
  const chunkId = keys.chunkIdOf(plain)
  const sealed = sealPlain(keys, chunkId, plain)
  const body = { kind: 'inline', chunkId, sealed, ...keyVersionMember(keyVersion) } as const
  return { size, ...tagsOf(request, [chunkId], md5), checksums, body, end }
}

/** Computed once, as the etag and for a claim. */
function needsMd5({ etag, claimed, trailing }: IngestRequest): boolean {
  return etag === 'md5' || claimed.has('MD5') || trailing?.algorithms.includes('MD5') === true
}

function tagsOf(
  { etag }: IngestRequest,
  chunkIds: readonly ChunkId[],
  md5: Buffer | null,
): Pick<IngestedBody, 'etag' | 'contentTag'> {
  const contentTag = etagOf(chunkIds)
  if (etag !== 'md5') return { etag: contentTag, contentTag }
  assert(md5 !== null, 'the MD5 of the body was computed')
  return { etag: md5.toString('hex'), contentTag }
}

interface ChunkUploadParts extends IngestParts {
  readonly upload: Upload
  readonly speed: ClientSpeed
  readonly signal: AbortSignal
}

class ChunkUpload {
  readonly #tenantId: TenantId
  readonly #caller: UploadCaller
  readonly #parts: ChunkUploadParts
  readonly #failure: AbortController
  readonly #uses: Promise<ChunkUse>[] = []
  /** A body may hold the same chunk many times; it is placed once, under one birth. */
  readonly #byId = new Map<ChunkId, Promise<ChunkUse>>()
  /** Null: neither the etag nor a claim needs it. */
  readonly #md5: BodyMd5 | null

  constructor(request: IngestRequest, parts: ChunkUploadParts, failure: AbortController) {
    this.#tenantId = request.tenant.id
    this.#caller = request.caller
    this.#md5 = needsMd5(request) ? parts.md5.begin() : null
    this.#parts = parts
    this.#failure = failure
  }

  /** Settles only when no chunk of this upload is in flight any more. */
  async run(
    reader: BodyReader,
    head: Buffer,
  ): Promise<{ readonly chunks: readonly ChunkUse[]; readonly md5: Buffer | null }> {
    try {
      let start = head
      while (start.length > 0 || (await reader.hasMore())) {
        await this.#uses.at(-CHUNKS_IN_FLIGHT_MAX)
        await this.#nextChunk(reader, start)
        start = NO_BYTES
      }
      const chunks = await Promise.all(this.#uses)
      return { chunks, md5: (await this.#md5?.digest()) ?? null }
    } catch (error) {
      await Promise.allSettled(this.#uses)
      throw error
    } finally {
      this.#md5?.end()
    }
  }

  async #nextChunk(reader: BodyReader, start: Buffer): Promise<void> {
    const { slots, signal } = this.#parts
    const chunk = this.#collect()
    try {
      await chunk.fill(reader, start, signal)
      const slot = await slots.acquire(this.#tenantId, signal)
      const use = this.#use(chunk, slot).finally(() => {
        chunk.release()
        slot.release()
      })
      // A failed chunk stops the reading at once; `run`, which waits for the use, throws the error.
      use.catch((error: unknown) => this.#failure.abort(error))
      this.#uses.push(use)
    } catch (error) {
      chunk.release()
      throw error
    }
  }

  /** A chunk without bytes, which ends the upload if it has to give way. */
  #collect(): CollectedChunk {
    const { memory, buffers, speed } = this.#parts
    const share = memory.begin(this.#caller, speed, (reason) => {
      chunk.release()
      this.#failure.abort(reason)
    })
    const chunk = new CollectedChunk(share, buffers)
    return chunk
  }

  async #use(chunk: CollectedChunk, slot: ChunkSlot): Promise<ChunkUse> {
    const id = await this.#nameOf(chunk)
    const row = this.#parts.state.get(chunkKeys.chunk(this.#tenantId, id))
    const known = this.#byId.get(id) ?? this.#existing(row)
    if (known !== null) {
      chunk.release()
      slot.release()
      return known
    }
    const use = this.#place(id, chunk)
    this.#byId.set(id, use)
    return use
  }

  /** The id of the chunk; its bytes are also in the MD5 when this settles. Call it in the order of the chunks. */
  async #nameOf({ frames }: CollectedChunk): Promise<ChunkId> {
    const { keys, sealer } = this.#parts
    // Even if one of them fails: until both have settled, a thread may read the frames.
    const [named, hashed] = await Promise.allSettled([sealer.nameOf(keys, frames), this.#md5?.update(frames)])
    if (hashed.status === 'rejected') throw hashed.reason
    if (named.status === 'rejected') throw named.reason
    return named.value
  }

  /**
   * The use of a chunk that an earlier upload has stored. A condemned chunk is about to be collected, so it is written again:
   * the commit then rarely finds it gone. If its row is still there at the commit, the chunk is revived.
   */
  #existing(row: ChunkRecord | undefined): Promise<ChunkUse> | null {
    if (row === undefined || row.condemnedAt !== null) return null
    // A copy on a lost member does not count, as in apply.
    const { state, blobs } = this.#parts
    if (row.replicas.filter((node) => mayHold(state, node)).length < blobs.copiesToAck) return null
    return Promise.resolve(asExisting(row))
  }

  /**
   * Always writes under a new birth: a copy under the birth of a row is made only with a committed task; otherwise it could be
   * written to a disk that is about to remove this copy. The commit takes over a row that has too few copies.
   */
  async #place(id: ChunkId, chunk: CollectedChunk): Promise<ChunkUse> {
    const { blobs, keys, keyVersion, sealer, upload, compression } = this.#parts
    const { size } = chunk
    const { sealed, ...sums } = await sealer.seal(keys, { id, plain: chunk.frames }, compression)
    const sealedSize = sealed.length
    chunk.release()
    const birth = upload.newBirth()
    // For the cluster a chunk is a blob, and its id only a name.
    const blobId: string = id
    const onSpent = (): void => sealer.release(sealed)
    const { checksum } = sums
    const { replicas, missing } = await blobs.write({ id: blobId, birth, bytes: sealed, ...sums, onSpent })
    const made = { id, size, birth, sealedSize, checksum, ...keyVersionMember(keyVersion) }
    return { ...made, existing: false, replicas, missing }
  }
}

/** At the commit apply checks that the chunk still exists and has enough copies. */
function asExisting({ id, birth, size, sealedSize, checksum }: ChunkRecord): ChunkUse {
  return { id, birth, size, sealedSize, checksum, existing: true, replicas: [], missing: [] }
}
