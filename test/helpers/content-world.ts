/**
 * An ObjectContent over memory: one tenant, blobs that can be spoilt, and the rows that a commit would make.
 *
 * `commit` does what the state machine does with a PutBody, no more than reading needs.
 */
import { NO_SETTINGS } from '../state-machine/map-world.ts'
import { MasterKey } from '../../src/access/master-key.ts'
import { newTenantKeys } from '../../src/access/credentials.ts'
import type { Config } from '../../src/config/types.ts'
import type { IngestedBody, IngestRequest } from '../../src/content/content.ts'
import type { UploadOutcome } from '../../src/content/uploads.ts'
import { ObjectContent } from '../../src/content/object-content.ts'
import type { BodyRecord, ObjectPart } from '../../src/state-machine/bodies/records.ts'
import type { ChunkLink, ChunkRecord } from '../../src/state-machine/chunks/records.ts'
import type { TenantRecord } from '../../src/state-machine/tenants/records.ts'
import type { ObjectRecord } from '../../src/state-machine/versions/records.ts'
import { PARTS_PER_PAGE } from '../../src/state-machine/bodies/bodies.ts'
import { collected } from './async.ts'
import { MemoryBlobs } from './memory-blobs.ts'

export const TEST_LIMITS: Config['limits'] = {
  inlineBytesMax: 2048,
  objectPutBytesMax: 2 ** 40,
  multipartExpiresAfterMs: 604_800_000,
  bucketsPerTenantMax: 10,
  tokenMintPerMinute: 30,
  tokenMintBurst: 10,
  adminRequestsPerMinute: 600,
  adminRequestsBurst: 100,
  chunkBuffersMax: 3,
  connectionsMax: 1000,
  bodyBytesPerMinuteMin: 0,
}

export const testMasterKey = MasterKey.fromBytes('mk-test', Buffer.alloc(32, 7))

export function testTenant(id = 'acme', masterKey = testMasterKey): TenantRecord {
  const record = {
    id,
    name: id,
    status: 'active',
    createdAt: 0,
    disabledAt: null,
    disabledReason: null,
  } as const
  return { ...record, ...newTenantKeys(id, masterKey), bucketCount: 0 }
}

export async function* inPieces(bytes: Uint8Array, pieceBytes: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += pieceBytes)
    yield bytes.subarray(start, start + pieceBytes)
}

/** Deterministic bytes that do not repeat within a chunk. */
export function patternBytes(size: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(size)
  let x = seed
  for (let at = 0; at + 4 <= size; at += 4) {
    x = (Math.imul(x, 1664525) + 1013904223) | 0
    bytes.writeInt32LE(x, at)
  }
  return bytes
}

export class ContentWorld {
  readonly blobs: MemoryBlobs
  readonly content: ObjectContent
  readonly tenant: TenantRecord
  readonly chunks = new Map<string, ChunkRecord>()
  readonly inline = new Map<string, Uint8Array>()
  readonly manifests = new Map<string, readonly ChunkLink[]>()
  /** Of assembled objects. */
  readonly parts = new Map<string, readonly ObjectPart[]>()
  births = 0
  /** How uploads ended that did not stay under way. */
  readonly ends: UploadOutcome[] = []
  #versions = 0

  constructor(
    options: {
      blobs?: MemoryBlobs
      tenant?: TenantRecord
      limits?: Partial<Config['limits']>
      compression?: 'none' | 'zstd'
    } = {},
  ) {
    this.blobs = options.blobs ?? new MemoryBlobs()
    this.tenant = options.tenant ?? testTenant()
    this.content = new ObjectContent({
      blobs: this.blobs,
      uploads: {
        begin: async () => ({
          newBirth: () => `memory-${(this.births += 1)}`,
          end: (outcome) => void this.ends.push(outcome),
        }),
      },
      masterKey: testMasterKey,
      config: {
        limits: { ...TEST_LIMITS, ...options.limits },
        content: { compression: options.compression ?? 'zstd', sealingThreads: 1 },
      },
      state: {
        tenant: () => this.tenant,
        chunk: (_tenant, id) => this.chunks.get(id),
        inlineBody: (_bucket, version) => {
          const sealed = this.inline.get(version)
          return sealed === undefined ? undefined : { sealed }
        },
        manifest: (_bucket, version, first, count) =>
          (this.manifests.get(version) ?? []).slice(first, first + count),
        objectParts: (_bucket, version, page) =>
          (this.parts.get(version) ?? []).slice(page * PARTS_PER_PAGE, (page + 1) * PARTS_PER_PAGE),
      },
    })
  }

  ingest(source: AsyncIterable<Uint8Array>, request: Partial<IngestRequest> = {}): Promise<IngestedBody> {
    return this.content.ingest({
      tenant: this.tenant,
      source,
      expectedSize: null,
      sizeMax: TEST_LIMITS.objectPutBytesMax,
      claimed: new Map(),
      signal: new AbortController().signal,
      ...request,
    })
  }

  async put(bytes: Uint8Array, pieceBytes = 64 * 1024): Promise<ObjectRecord> {
    return this.commit(await this.ingest(inPieces(bytes, pieceBytes)))
  }

  commit(ingested: IngestedBody): ObjectRecord {
    this.#versions += 1
    const versionId = `version-${this.#versions}`
    const { size, etag, checksums } = ingested
    const body = this.#commitBody(versionId, ingested.body)
    const place = {
      kind: 'object',
      key: 'key',
      isNull: true,
      older: null,
      newer: null,
      lastModified: 0,
    } as const
    const about = { ...place, ...NO_SETTINGS, contentType: 'application/octet-stream', metadata: {} }
    return { ...about, versionId, size, etag, checksums, masterKeyId: testMasterKey.id, body }
  }

  /** One object of the bytes of these, in their order. */
  assemble(pieces: readonly ObjectRecord[]): ObjectRecord {
    const [first] = pieces
    if (first === undefined) throw new Error('An object is assembled of one part at least')
    this.#versions += 1
    const versionId = `version-${this.#versions}`
    const parts = pieces.map(({ versionId: partId, size, body }): ObjectPart => {
      if (body.kind === 'parts') throw new Error('A part has no parts')
      return { partId, size, body }
    })
    this.parts.set(versionId, parts)
    const size = parts.reduce((bytes, part) => bytes + part.size, 0)
    return { ...first, versionId, size, body: { kind: 'parts', count: parts.length } }
  }

  #commitBody(versionId: string, body: IngestedBody['body']): BodyRecord {
    if (body.kind === 'empty') return { kind: 'empty' }
    if (body.kind === 'inline') {
      this.inline.set(versionId, body.sealed)
      return { kind: 'inline', chunkId: body.chunkId, sealedSize: body.sealed.length }
    }
    for (const use of body.chunks) {
      const { id, birth, size, sealedSize, checksum, replicas } = use
      const row = {
        id,
        tenantId: this.tenant.id,
        birth,
        size,
        sealedSize,
        checksum,
        replicas,
        owed: [],
        references: 1,
      }
      if (!this.chunks.has(id)) this.chunks.set(id, { ...row, condemnedAt: null })
    }
    this.manifests.set(
      versionId,
      body.chunks.map(({ id, size }) => ({ id, size })),
    )
    return { kind: 'chunks', count: body.chunks.length }
  }

  read(object: ObjectRecord, start = 0, end = object.size): AsyncIterable<Uint8Array> {
    return this.content.read(this.tenant, { bucketId: 'bucket-1', object, pinned: {} }, { start, end })
  }

  async get(object: ObjectRecord, start = 0, end = object.size): Promise<Buffer> {
    return Buffer.concat(await collected(this.read(object, start, end)))
  }
}
