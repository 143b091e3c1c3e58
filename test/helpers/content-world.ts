/**
 * An ObjectContent over memory: one tenant, blobs that a test can damage, and the rows that a commit would write.
 *
 * `commit` handles a PutBody like the state machine, as far as reading needs it.
 */
import { NO_SETTINGS } from '../state-machine/map-world.ts'
import { MasterKey } from '../../src/access/master-key.ts'
import { newTenantKeys } from '../../src/access/credentials.ts'
import type { CallerLimits, Config } from '../../src/config/types.ts'
import type { IngestedBody, IngestRequest } from '../../src/content/content.ts'
import type { UploadOutcome } from '../../src/content/uploads.ts'
import { Downloads } from '../../src/content/downloads.ts'
import { ObjectContent } from '../../src/content/object-content.ts'
import type { BodyRecord, ObjectPart } from '../../src/state-machine/bodies/records.ts'
import type { ChunkLink, ChunkRecord } from '../../src/state-machine/chunks/records.ts'
import type { TenantRecord } from '../../src/state-machine/tenants/records.ts'
import type { ObjectRecord } from '../../src/state-machine/versions/records.ts'
import { PARTS_PER_PAGE } from '../../src/state-machine/bodies/bodies.ts'
import { collected } from './async.ts'
import { MemoryBlobs } from './memory-blobs.ts'
import { kindOf, type RowKey, SEPARATOR } from '../../src/state-machine/base/row-key.ts'
import type { View } from '../../src/state-machine/base/view.ts'
import { LINKS_PER_PAGE } from '../../src/state-machine/bodies/manifests.ts'

export const TEST_LIMITS: Config['limits'] = {
  inlineBytesMax: 2048,
  objectPutBytesMax: 2 ** 40,
  multipartExpiresAfterMs: 604_800_000,
  bucketsPerTenantMax: 10,
  configsPerTenantMax: 100,
  configsPerOriginMax: 100,
  tokenMintPerMinute: 30,
  tokenMintBurst: 10,
  adminRequestsPerMinute: 600,
  adminRequestsBurst: 100,
  unprovedRequestsPerMinute: 600_000,
  unprovedBurst: 100_000,
  unprovedBodyBytesMax: 1024 ** 2,
  chunkBuffersMax: 3,
  uploadMemoryBytesMax: 64 * 1024 * 1024,
  memoryBytesMax: 0,
  contendedBytesPerSecondMin: 0,
  connectionsMax: 1000,
  bodyBytesPerMinuteMin: 0,
  requestDurationMaxMs: 86_400_000,
  answerBytesPerMinuteMin: 0,
}

/** No test meets a limit that it does not set itself. */
export const NO_CALLER_LIMITS: CallerLimits = {
  requestsPerSecond: 0,
  bytesInPerSecond: 0,
  bytesOutPerSecond: 0,
  burstSeconds: 10,
  requestsAtOnce: 0,
  uploadsAtOnce: 0,
}
export const TEST_CALLERS: Config['callers'] = {
  tenant: NO_CALLER_LIMITS,
  accessKey: NO_CALLER_LIMITS,
  address: NO_CALLER_LIMITS,
  workAtOnce: 64,
  queueWaitMs: 10_000,
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

/** The rows that reads of content look up; a kind that is not given has none. */
interface ContentRows {
  readonly tenant?: () => TenantRecord
  readonly chunk?: (id: string) => ChunkRecord | undefined
  readonly inlineBody?: (version: string) => Uint8Array | undefined
  readonly links?: (version: string, page: number) => readonly ChunkLink[] | undefined
  readonly parts?: (version: string, page: number) => readonly ObjectPart[] | undefined
}

/** A state of rows that are made when they are looked up. */
export function contentRows(rows: ContentRows): View {
  return {
    get: <R extends object>(key: RowKey<R>) => (rowOf(rows, key) as R | undefined) ?? undefined,
  }
}

function rowOf(rows: ContentRows, key: RowKey): object | undefined {
  const parts = key.split(SEPARATOR)
  const [version = '', page = ''] = parts.slice(3)
  const number = Number.parseInt(page, 16)
  switch (kindOf(key)) {
    case 'tenant':
      return rows.tenant?.()
    case 'chunk':
      return rows.chunk?.(parts[2] ?? '')
    case 'inlineBody': {
      const sealed = rows.inlineBody?.(version)
      return sealed === undefined ? undefined : { sealed }
    }
    case 'manifestPage': {
      const links = rows.links?.(version, number)
      return links === undefined ? undefined : { links }
    }
    case 'partPage': {
      const found = rows.parts?.(version, number)
      return found === undefined ? undefined : { parts: found }
    }
    // No member has left.
    case 'leavers':
      return undefined
  }
  throw new Error(`content looks up no row of the kind ${kindOf(key)}`)
}

/** Undefined behind the last page: there is no such row. */
function pageOf<T>(items: readonly T[] = [], page: number, perPage: number): readonly T[] | undefined {
  const found = items.slice(page * perPage, (page + 1) * perPage)
  return found.length === 0 ? undefined : found
}

export class ContentWorld {
  readonly blobs: MemoryBlobs
  readonly content: ObjectContent
  readonly tenant: TenantRecord
  readonly downloads = new Downloads()
  readonly chunks = new Map<string, ChunkRecord>()
  readonly inline = new Map<string, Uint8Array>()
  readonly manifests = new Map<string, readonly ChunkLink[]>()
  /** Of assembled objects. */
  readonly parts = new Map<string, readonly ObjectPart[]>()
  births = 0
  /** Brings the rows up to date; a test may replace it. */
  readBarrier: () => Promise<void> = async () => undefined
  /** The outcomes of uploads that have ended. */
  readonly ends: UploadOutcome[] = []
  #versions = 0

  constructor(
    options: {
      blobs?: MemoryBlobs
      tenant?: TenantRecord
      limits?: Partial<Config['limits']>
      compression?: 'none' | 'zstd'
      now?: () => number
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
      readBarrier: () => this.readBarrier(),
      downloads: this.downloads,
      ...(options.now === undefined ? {} : { now: options.now }),
      config: {
        limits: { ...TEST_LIMITS, ...options.limits },
        content: { compression: options.compression ?? 'zstd', sealingThreads: 1 },
      },
      state: contentRows({
        tenant: () => this.tenant,
        chunk: (id) => this.chunks.get(id),
        inlineBody: (version) => this.inline.get(version),
        links: (version, page) => pageOf(this.manifests.get(version), page, LINKS_PER_PAGE),
        parts: (version, page) => pageOf(this.parts.get(version), page, PARTS_PER_PAGE),
      }),
    })
  }

  ingest(source: AsyncIterable<Uint8Array>, request: Partial<IngestRequest> = {}): Promise<IngestedBody> {
    return this.content.ingest({
      tenant: this.tenant,
      caller: { tenantId: this.tenant.id, accessKeyId: 'AK', address: '127.0.0.1' },
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

  /** One object with the bytes of these parts, in their order. */
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

  /** Of an inline body. */
  atHand(object: ObjectRecord, start = 0, end = object.size): Uint8Array {
    const source = { bucketId: 'bucket-1', object, pinned: {} }
    return this.content.readAtHand(this.tenant, source, { start, end })
  }

  async get(object: ObjectRecord, start = 0, end = object.size): Promise<Buffer> {
    return Buffer.concat(await collected(this.read(object, start, end)))
  }
}
