/**
 * Bytes of the cluster itself instead of a tenant: one sealed chunk each, stored with copies like any other chunk.
 *
 * Owns: sealing, placing, reading back. Knows nothing of: the content of the bytes, the rows that name them.
 * Rule: `store` resolves only after every copy that it counts was read back and the plain bytes were opened again from the copies;
 * until `end` is called the copies are kept although no row names them.
 */
import type { BlobRef, Blobs } from '../../cluster/index.ts'
import type { MasterKey } from '../access/master-key.ts'
import { auditDataKey, auditDedupKey } from '../access/sealing-contexts.ts'
import type { AuditKeysRecord } from '../state-machine/audit/records.ts'
import { AUDIT_OWNER, type ChunkId } from '../state-machine/base/record-ids.ts'
import type { ChunkUse } from '../state-machine/chunks/commands.ts'
import type { View } from '../state-machine/base/view.ts'
import { checkCopy } from './copy-check.ts'
import { type LocatedChunk, readChunk } from './read-chunk.ts'
import { sealChunk } from './sealing.ts'
import { TenantKeys } from './tenant-keys.ts'
import type { UploadOutcome, Uploads } from './uploads.ts'
import { auditRowKeys } from '../state-machine/audit/keys.ts'
import { chunkKeys } from '../state-machine/chunks/keys.ts'

export interface ClusterContentParts {
  readonly blobs: Pick<Blobs, 'write' | 'copiesToAck' | 'copies' | 'reading' | 'report'>
  readonly uploads: Uploads
  readonly state: View
  readonly masterKey: Pick<MasterKey, 'open'>
  /** Brings `state` up to date. Throws Condition. */
  readonly readBarrier: () => Promise<void>
}

export interface StoredBytes {
  readonly chunk: ChunkUse
  readonly copiesMin: number
  /** The proposer calls it with the outcome, after its last proposal. */
  readonly end: (outcome: UploadOutcome) => void
}

export class ClusterContent {
  readonly #parts: ClusterContentParts
  #opened: { readonly row: AuditKeysRecord; readonly keys: TenantKeys } | null = null

  constructor(parts: ClusterContentParts) {
    this.#parts = parts
  }

  /** Throws Condition. */
  async store(plain: Buffer): Promise<StoredBytes> {
    const { blobs, uploads } = this.#parts
    const keys = this.#keys()
    const upload = await uploads.begin()
    try {
      const id = keys.chunkIdOf(plain)
      const { sealed, checksum } = sealChunk(keys, { id, plain }, 'none')
      const name = { id: id as string, birth: upload.newBirth() }
      const sealedSize = sealed.length
      const { replicas, missing } = await blobs.write({ ...name, bytes: sealed, checksum })
      const ref: BlobRef = { ...name, size: sealedSize, checksum, replicas, owner: AUDIT_OWNER }
      for (const copy of blobs.copies(ref)) await checkCopy(copy, ref)
      await this.#checkOpened(keys, ref, plain)
      const sizes = { size: plain.length, sealedSize, checksum }
      const chunk = { id, birth: name.birth, ...sizes, existing: false, replicas, missing }
      return { chunk, copiesMin: blobs.copiesToAck, end: (outcome) => upload.end(outcome) }
    } catch (error) {
      upload.end('known')
      throw error
    }
  }

  /** Throws Condition not_enough_replicas when no copy can be read. */
  async read(id: ChunkId, size: number): Promise<Buffer> {
    const { blobs, readBarrier, state } = this.#parts
    const keys = this.#keys()
    const locate = (): LocatedChunk | null => {
      const row = state.get(chunkKeys.chunk(AUDIT_OWNER, id))
      if (row === undefined) return null
      const { birth, sealedSize, checksum, replicas } = row
      const ref = { id: id as string, birth, size: sealedSize, checksum, replicas, owner: AUDIT_OWNER }
      return { ref, keys }
    }
    const chunk = { blobs, id, plainSize: size, locate, readBarrier }
    return wholeOf(readChunk(chunk, { start: 0, end: size }))
  }

  async #checkOpened(keys: TenantKeys, ref: BlobRef, plain: Buffer): Promise<void> {
    const { blobs, readBarrier } = this.#parts
    const chunk = {
      blobs,
      id: ref.id as string,
      plainSize: plain.length,
      locate: () => ({ ref, keys }),
      readBarrier,
    }
    const read = await wholeOf(readChunk(chunk, { start: 0, end: plain.length }))
    if (!read.equals(plain)) throw new Error(`The chunk '${ref.id}' opens to other bytes than were sealed`)
  }

  #keys(): TenantKeys {
    const row = this.#parts.state.get(auditRowKeys.auditKeys())
    if (row === undefined) throw new Error('The audit log has no keys yet')
    const kept = this.#opened
    if (kept !== null && Buffer.compare(kept.row.dataKey, row.dataKey) === 0) return kept.keys
    const { masterKey } = this.#parts
    const keys = TenantKeys.fromBytes(
      masterKey.open(row.dataKey, auditDataKey()),
      masterKey.open(row.dedupKey, auditDedupKey()),
    )
    this.#opened = { row, keys }
    return keys
  }
}

async function wholeOf(pieces: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = []
  for await (const piece of pieces) all.push(piece)
  return Buffer.concat(all)
}
