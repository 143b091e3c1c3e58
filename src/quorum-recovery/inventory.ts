/**
 * The copies of a survivor and the rows about them, as a compact file beside its report.
 *
 * Layout: zstd of JSON arrays, one a line, each beginning with its kind (docs/formats/recovery.md): first the copies on the disk,
 * then rows in the order of their keys. Knows nothing of: other survivors, losses. Rule: memory is bounded by eight bytes for each copy.
 */
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createZstdCompress, createZstdDecompress } from 'node:zlib'
import type { VersionRecord } from '../state-machine/versions/records.ts'
import type { BucketRecord } from '../state-machine/buckets/records.ts'
import { kindOf, type RowKey } from '../state-machine/base/row-key.ts'
import type { AuditSegmentRecord } from '../state-machine/audit/records.ts'
import type { StoppedNode } from '../../cluster/index.ts'
import type { BodyRecord, ManifestPageRecord, PartPageRecord } from '../state-machine/bodies/records.ts'
import type { ChunkRecord } from '../state-machine/chunks/records.ts'
import type { RehearsedRow, RehearsedState } from '../store/apply/rehearsed-state.ts'
import { decodeRow } from '../store/rows/row-codec.ts'
import { CopySet } from './copy-set.ts'

export type InventoryLine =
  /** A copy on the disk: `<id>.<birth>`. */
  | readonly ['copy', string]
  | readonly ['bucket', id: string, tenantId: string, name: string]
  /** A chunk that is referenced, and the nodes that its row lists. */
  | readonly ['chunk', id: string, birth: string, replicas: readonly string[]]
  /** The chunks of a body, if one of them is not on this disk. */
  | readonly ['body', bucketId: string, bodyId: string, chunks: readonly string[]]
  /** The bodies of the parts of a version. */
  | readonly ['parts', bucketId: string, versionId: string, bodies: readonly string[]]
  /** A version whose bytes are chunks; clients know a null version by the id `null`. */
  | readonly ['version', bucketId: string, key: string, versionId: string, isNull: boolean]
  /** A segment of the audit log: when its first and its last link were recorded, and its chunk. */
  | readonly ['audit', firstTime: number, lastTime: number, rows: number, chunkId: string]

export interface InventoryFile {
  readonly bytes: number
  readonly sha256: string
  readonly copies: number
  readonly versions: number
}

type HoldingNode = Pick<StoppedNode, 'copies' | 'identity'>

const SEPARATOR = '\u0000'

export async function writeInventory(
  file: string,
  node: HoldingNode,
  state: Pick<RehearsedState, 'rows'>,
): Promise<InventoryFile> {
  const digest = createHash('sha256')
  const counts = { bytes: 0, copies: 0, versions: 0 }
  const measured = new Transform({
    transform(piece: Buffer, _, done) {
      digest.update(piece)
      counts.bytes += piece.length
      done(null, piece)
    },
  })
  async function* text(): AsyncGenerator<string> {
    for await (const line of linesOf(node, state)) {
      if (line[0] === 'copy') counts.copies++
      if (line[0] === 'version') counts.versions++
      yield `${JSON.stringify(line)}\n`
    }
  }
  const target = createWriteStream(file, { mode: 0o600, flush: true })
  await pipeline(text(), createZstdCompress(), measured, target)
  return { ...counts, sha256: digest.digest('hex') }
}

/** Throws if the file is damaged. */
export async function* readInventory(file: string): AsyncGenerator<InventoryLine> {
  const source = createReadStream(file)
  const plain = createZstdDecompress()
  const failed = new Promise<never>((_, reject) => {
    source.once('error', reject)
    plain.once('error', reject)
  })
  failed.catch(() => undefined)
  try {
    const lines = createInterface({ input: source.pipe(plain), crlfDelay: Infinity })
    for await (const line of lines) yield JSON.parse(line) as InventoryLine
    await Promise.race([failed, Promise.resolve()])
  } finally {
    source.destroy()
    plain.destroy()
  }
}

export async function digestOf(file: string): Promise<string> {
  const digest = createHash('sha256')
  for await (const piece of createReadStream(file)) digest.update(piece as Buffer)
  return digest.digest('hex')
}

async function* linesOf(
  node: HoldingNode,
  state: Pick<RehearsedState, 'rows'>,
): AsyncGenerator<InventoryLine> {
  const copies = new CopySet()
  const absent = new AbsentChunks(node.identity.nodeId, copies)
  for await (const names of node.copies()) {
    for (const { id, birth } of names) {
      const name = `${id}.${birth}`
      copies.add(name)
      yield ['copy', name]
    }
  }
  for await (const row of state.rows()) {
    const line = lineOf(row, absent)
    if (line !== null) yield line
  }
}

/** Chunks without a valid copy on this disk. The rows of chunks come before all bodies. */
class AbsentChunks {
  readonly #nodeId: string
  readonly #copies: CopySet
  readonly #present = new CopySet()

  constructor(nodeId: string, copies: CopySet) {
    this.#nodeId = nodeId
    this.#copies = copies
  }

  learn({ id, birth, replicas }: Pick<ChunkRecord, 'id' | 'birth' | 'replicas'>): void {
    if (replicas.includes(this.#nodeId) && this.#copies.has(`${id}.${birth}`)) this.#present.add(id)
  }

  has(id: string): boolean {
    return !this.#present.has(id)
  }
}

function lineOf({ key, value }: RehearsedRow, absent: AbsentChunks): InventoryLine | null {
  const [, bucketId = '', , name = ''] = key.split(SEPARATOR)
  switch (kindOf(key)) {
    case 'bucket': {
      const { id, tenantId, name: bucket } = rowOf<BucketRecord>(key, value)
      return ['bucket', id, tenantId, bucket]
    }
    case 'chunk': {
      const chunk = rowOf<ChunkRecord>(key, value)
      absent.learn(chunk)
      const { id, birth, replicas, references } = chunk
      return references > 0 ? ['chunk', id, birth, replicas] : null
    }
    case 'auditSegment': {
      const { firstTime, lastTime, rows, chunkId } = rowOf<AuditSegmentRecord>(key, value)
      return ['audit', firstTime, lastTime, rows, chunkId]
    }
    case 'manifestPage': {
      const chunks = rowOf<ManifestPageRecord>(key, value).links.map(({ id }) => id)
      return chunks.some((id) => absent.has(id)) ? ['body', bucketId, name, chunks] : null
    }
    case 'partPage': {
      const parts = rowOf<PartPageRecord>(key, value).parts.filter(({ body }) => hasChunks(body))
      return parts.length === 0 ? null : ['parts', bucketId, name, parts.map(({ partId }) => partId)]
    }
    case 'object':
    case 'version': {
      const version = rowOf<VersionRecord>(key, value)
      if (version.kind !== 'object' || !hasChunks(version.body)) return null
      return ['version', bucketId, version.key, version.versionId, version.isNull]
    }
    default:
      return null
  }
}

function hasChunks({ kind }: BodyRecord): boolean {
  return kind === 'chunks' || kind === 'parts'
}

function rowOf<R extends object>(key: RowKey, value: Buffer): R {
  return decodeRow(key as RowKey<R>, value)
}
