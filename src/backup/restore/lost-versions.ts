/**
 * Which objects need a chunk that a backup could not provide.
 *
 * Owns: the way from chunks to versions. Knows nothing of: why chunks are missing. Rules: without missing chunks nothing is read again; versions are named up to
 * LOST_NAMED_MAX and only counted beyond it.
 */
import type { AuditSegmentRecord } from '../../state-machine/audit/records.ts'
import { AUDIT_OWNER } from '../../state-machine/base/record-ids.ts'
import { kindOf, type RowKey, SEPARATOR } from '../../state-machine/base/row-key.ts'
import type { ManifestPageRecord, PartPageRecord } from '../../state-machine/bodies/records.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import type { VersionRecord } from '../../state-machine/versions/records.ts'
import { rowsOf } from '../../store/rows/row-block.ts'
import { decodeRow, keyText } from '../../store/rows/row-codec.ts'

export const LOST_NAMED_MAX = 100_000

export interface LostVersion {
  readonly tenantId: string
  readonly bucket: string
  readonly key: string
  /** As clients know it. */
  readonly versionId: string
}

export interface Lost {
  readonly versions: number
  readonly named: readonly LostVersion[]
  /** Rows of the audit log in segments that are lost. */
  readonly auditRows: number
}

export interface LostChunk {
  readonly tenantId: string
  readonly id: string
}

/** `blocks`: begins again with each call. */
export async function lostVersions(
  blocks: () => AsyncIterable<Buffer>,
  chunks: readonly LostChunk[],
): Promise<Lost> {
  if (chunks.length === 0) return { versions: 0, named: [], auditRows: 0 }
  const ids = new Set(chunks.map(({ tenantId, id }) => nameOf(tenantId, id)))
  const first = new Walk(ids)
  for await (const block of blocks()) for (const row of rowsOf(block)) first.learn(row)
  // Rows of objects come before those of their parts, so the lost bodies are known only after a complete walk.
  const named: LostVersion[] = []
  let versions = 0
  for await (const block of blocks())
    for (const row of rowsOf(block)) {
      const lost = first.lostIn(row)
      if (lost === null) continue
      versions++
      if (named.length < LOST_NAMED_MAX) named.push(lost)
    }
  return { versions, named, auditRows: first.auditRows }
}

interface StoredRow {
  readonly key: Buffer
  readonly value: Buffer
}

class Walk {
  auditRows = 0
  readonly #chunks: ReadonlySet<string>
  readonly #bodies = new Set<string>()
  readonly #buckets = new Map<string, { readonly tenantId: string; readonly bucket: string }>()

  constructor(chunks: ReadonlySet<string>) {
    this.#chunks = chunks
  }

  learn({ key, value }: StoredRow): void {
    const name = keyText(key)
    const [, bucketId = '', , body = ''] = name.split(SEPARATOR)
    switch (kindOf(name)) {
      case 'bucket': {
        const { id, tenantId, name: bucket } = rowOf<BucketRecord>(name, value)
        this.#buckets.set(id, { tenantId, bucket })
        return
      }
      case 'auditSegment': {
        const { chunkId, rows } = rowOf<AuditSegmentRecord>(name, value)
        if (this.#chunks.has(nameOf(AUDIT_OWNER, chunkId))) this.auditRows += rows
        return
      }
      case 'manifestPage': {
        const tenantId = this.#buckets.get(bucketId)?.tenantId ?? ''
        const { links } = rowOf<ManifestPageRecord>(name, value)
        if (links.some(({ id }) => this.#chunks.has(nameOf(tenantId, id))))
          this.#bodies.add(nameOf(bucketId, body))
        return
      }
      case 'partPage': {
        const { parts } = rowOf<PartPageRecord>(name, value)
        if (parts.some(({ partId }) => this.#bodies.has(nameOf(bucketId, partId))))
          this.#bodies.add(nameOf(bucketId, body))
      }
    }
  }

  lostIn({ key, value }: StoredRow): LostVersion | null {
    const name = keyText(key)
    const kind = kindOf(name)
    if (kind !== 'object' && kind !== 'version') return null
    const [, bucketId = ''] = name.split(SEPARATOR)
    const { key: objectKey, versionId, isNull } = rowOf<VersionRecord>(name, value)
    if (!this.#bodies.has(nameOf(bucketId, versionId))) return null
    const place = this.#buckets.get(bucketId) ?? { tenantId: '', bucket: bucketId }
    return { ...place, key: objectKey, versionId: isNull ? 'null' : versionId }
  }
}

function rowOf<R extends object>(key: string, value: Buffer): R {
  return decodeRow(key as RowKey<R>, value)
}

const nameOf = (owner: string, name: string): string => `${owner}/${name}`
