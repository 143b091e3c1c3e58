/**
 * Bodies that are sealed with a key of their client: they come back as they lie, because no other key opens them. [docs/adr/0092-keys-of-clients.md]
 *
 * Owns: the copies, and their comparison. Rules: the key of such a body is derived from that of the client and the dedup key of the tenant, so it comes back only
 * to a tenant that has the dedup key of the backup; bytes count by the digest that the backup has for them.
 */
import { type BlobRef, type Blobs, Condition } from '../../../cluster/index.ts'
import type { IngestedBody } from '../../content/content.ts'
import { checkCopy } from '../../content/copy-check.ts'
import { blobRefOf } from '../../content/read-content.ts'
import type { Upload, Uploads } from '../../content/uploads.ts'
import type { View } from '../../state-machine/base/view.ts'
import type { BodyRecord } from '../../state-machine/bodies/records.ts'
import type { ChunkUse } from '../../state-machine/chunks/commands.ts'
import { chunkKeys } from '../../state-machine/chunks/keys.ts'
import type { ChunkRecord } from '../../state-machine/chunks/records.ts'
import { mayHold } from '../../state-machine/members/members.ts'
import { CUSTOMER_KEY_VERSION } from '../../state-machine/tenants/data-keys.ts'
import { type BodyAt, PieceMissing, type SourceBodies } from './source-bodies.ts'

export interface SealedCopying {
  readonly bodies: SourceBodies
  /** Of the destination. */
  readonly tenantId: string
  /** It has the dedup key of the tenant in the backup. */
  readonly sharesIds: boolean
  readonly state: View
  readonly blobs: Pick<Blobs, 'write' | 'copies' | 'copiesToAck'>
  readonly uploads: Uploads
  readonly pace: (bytes: number) => Promise<void>
}

/** Throws TargetError when the target is away, PieceMissing, Condition, and what `pace` throws. */
export async function copySealed(
  at: BodyAt,
  body: BodyRecord,
  copying: SealedCopying,
): Promise<Pick<IngestedBody, 'body' | 'end'>> {
  const { bodies, sharesIds, uploads, blobs, pace } = copying
  if (body.kind === 'empty') return { body: { kind: 'empty' }, end: () => undefined }
  if (!sharesIds) throw new PieceMissing('only its client has the key, which opens nothing in another tenant')
  const upload = await uploads.begin()
  try {
    const uses = new Map<string, ChunkUse>()
    const chunks: ChunkUse[] = []
    for await (const { id, size } of bodies.pieces(at, body)) {
      await pace(size)
      const use = uses.get(id) ?? (await useOf(await bodies.row(id), upload, copying))
      uses.set(id, use)
      chunks.push(use)
    }
    const { copiesToAck: copiesMin } = blobs
    return { body: { kind: 'chunks', chunks, copiesMin }, end: (outcome) => upload.end(outcome) }
  } catch (error) {
    upload.end('known')
    throw error
  }
}

async function useOf(
  row: ChunkRecord,
  upload: Upload,
  { bodies, tenantId, state, blobs }: SealedCopying,
): Promise<ChunkUse> {
  const { id, size, sealedSize, checksum } = row
  const present = state.get(chunkKeys.chunk(tenantId, id))
  const isThere =
    present !== undefined &&
    present.condemnedAt === null &&
    present.replicas.filter((node) => mayHold(state, node)).length >= blobs.copiesToAck
  const about = { id, size, sealedSize, checksum }
  if (isThere) return { ...about, birth: present.birth, existing: true, replicas: [], missing: [] }
  const bytes = Uint8Array.from(await bodies.sealed(row))
  const birth = upload.newBirth()
  const name: string = id
  const { replicas, missing } = await blobs.write({ id: name, birth, bytes, checksum })
  return { ...about, birth, keyVersion: CUSTOMER_KEY_VERSION, existing: false, replicas, missing }
}

/** Null: one copy of each chunk was read back, and is what the backup has. Throws TargetError, PieceMissing, Condition, and what `pace` throws. */
export async function sealedFault(
  at: BodyAt,
  body: BodyRecord,
  { bodies, tenantId, state, blobs, pace }: SealedCopying,
): Promise<string | null> {
  for await (const { id, size } of bodies.pieces(at, body)) {
    await pace(size)
    const [was, is] = [await bodies.row(id), state.get(chunkKeys.chunk(tenantId, id))]
    if (is === undefined || is.checksum !== was.checksum)
      return 'its sealed bytes are not those of the backup'
    await readBack(blobRefOf(is), blobs)
  }
  return null
}

async function readBack(ref: BlobRef, blobs: Pick<Blobs, 'copies'>): Promise<void> {
  let fault: unknown = null
  for (const copy of blobs.copies(ref))
    try {
      return await checkCopy(copy, ref)
    } catch (error) {
      fault = error
    }
  throw new Condition('not_enough_replicas', `No copy of chunk '${ref.id}' could be read`, { cause: fault })
}
