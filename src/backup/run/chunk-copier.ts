/**
 * Brings the chunks of one shard into the target: those that it does not have yet.
 *
 * Owns: which are sent, how many at once. Knows nothing of: operations, cursors. Rules: a chunk is read from any copy, and sent only when its bytes have the
 * checksum that the cut names; one that no copy provides is counted as missing and does not stop the others.
 */
import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { BlobRef, Blobs } from '../../../cluster/index.ts'
import type { View } from '../../state-machine/base/view.ts'
import { chunkKeys } from '../../state-machine/chunks/keys.ts'
import type { ChunkEntry } from '../format/chunk-list.ts'
import { chunkName, shardFolder } from '../format/names.ts'
import type { BackupTarget } from '../targets/target.ts'
import { once } from './sealed-files.ts'

/** Each holds one chunk in memory. */
const AT_ONCE = 4
const RETRY_AFTER_MS: readonly number[] = [1_000, 4_000]

export interface CopierParts {
  readonly target: BackupTarget
  readonly clusterId: string
  readonly blobs: Pick<Blobs, 'copies' | 'report'>
  readonly state: View
}

export interface Copied {
  readonly sent: number
  readonly sentBytes: number
  /** The target had them. */
  readonly present: number
  readonly presentBytes: number
  readonly missing: number
  readonly missingBytes: number
}

const NOTHING: Copied = { sent: 0, sentBytes: 0, present: 0, presentBytes: 0, missing: 0, missingBytes: 0 }

/** The names that the target has in one shard, with their sizes. */
export async function heldIn(
  target: BackupTarget,
  clusterId: string,
  shard: string,
): Promise<Map<string, number>> {
  const held = new Map<string, number>()
  for await (const { name, size } of target.list(shardFolder(clusterId, shard))) held.set(name, size)
  return held
}

/** `held` learns what was sent. Throws TargetError. */
export async function copyChunks(
  parts: CopierParts,
  entries: readonly ChunkEntry[],
  held: Map<string, number>,
): Promise<Copied> {
  let copied = NOTHING
  const left = [...entries]
  const work = async (): Promise<void> => {
    for (let entry = left.shift(); entry !== undefined; entry = left.shift()) {
      const { outcome, bytes } = await copyChunk(parts, entry, held)
      copied = {
        ...copied,
        [outcome]: copied[outcome] + 1,
        [`${outcome}Bytes`]: copied[`${outcome}Bytes`] + bytes,
      }
    }
  }
  const ended = await Promise.allSettled(Array.from({ length: AT_ONCE }, work))
  for (const one of ended) if (one.status === 'rejected') throw one.reason
  return copied
}

async function copyChunk(
  parts: CopierParts,
  entry: ChunkEntry,
  held: Map<string, number>,
): Promise<{ readonly outcome: 'sent' | 'present' | 'missing'; readonly bytes: number }> {
  const name = chunkName(parts.clusterId, entry)
  const { sealedSize: bytes } = entry
  if (held.get(name) === bytes) return { outcome: 'present', bytes }
  const sealed = await readOften(parts, entry)
  if (sealed === null) return { outcome: 'missing', bytes }
  await parts.target.put(name, once(sealed), sealed.length)
  held.set(name, bytes)
  return { outcome: 'sent', bytes }
}

/** A node that restarts has its copies back in a moment. Null: no copy has these bytes. */
async function readOften(parts: CopierParts, entry: ChunkEntry): Promise<Buffer | null> {
  for (const waitMs of RETRY_AFTER_MS) {
    const sealed = await readCopy(parts, entry)
    if (sealed !== null) return sealed
    await wait(waitMs)
  }
  return readCopy(parts, entry)
}

/** Null: no copy has these bytes. */
async function readCopy({ state, blobs }: CopierParts, entry: ChunkEntry): Promise<Buffer | null> {
  const { id, tenantId, checksum, sealedSize: size } = entry
  const row = state.get(chunkKeys.chunk(tenantId, id))
  if (row === undefined || row.checksum !== checksum || row.sealedSize !== size) return null
  const ref: BlobRef = { id, birth: row.birth, size, checksum, replicas: row.replicas, owner: tenantId }
  for (const copy of blobs.copies(ref)) {
    const digest = createHash('sha256')
    const pieces: Uint8Array[] = []
    try {
      for await (const piece of copy.read(0, size)) {
        digest.update(piece)
        pieces.push(Uint8Array.from(piece))
      }
    } catch {
      // Another copy may be read; what is wrong with this one its own node finds out.
      continue
    }
    if (digest.digest('hex') === checksum) return Buffer.concat(pieces)
    blobs.report(ref, copy.nodeId, 'damaged')
  }
  return null
}
