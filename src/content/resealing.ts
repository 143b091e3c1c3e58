/**
 * Seals what a tenant has stored with its present data key. [docs/adr/0088-exchange-of-tenant-keys.md]
 *
 * Owns: reading, the proof of what was read, sealing, placing, reading back. Knows nothing of: which chunks, when, and the commit.
 * Rules: the plain bytes are those of the id of the chunk, or nothing is sealed; a chunk is returned only after each new copy was read back and
 * compared with its checksum; one chunk holds one slot, which it shares with uploads.
 */
import type { BlobRef, Blobs } from '../../cluster/index.ts'
import type { View } from '../state-machine/base/view.ts'
import type { ResealedChunk } from '../state-machine/key-exchange/commands.ts'
import { chunkKeys } from '../state-machine/chunks/keys.ts'
import type { ChunkRecord } from '../state-machine/chunks/records.ts'
import type { InlineBodyRecord } from '../state-machine/bodies/records.ts'
import { keyVersionOf } from '../state-machine/tenants/data-keys.ts'
import type { ChunkSealer } from './chunk-sealer.ts'
import type { ChunkSlots } from './chunk-slots.ts'
import { checkCopy } from './copy-check.ts'
import { FrameBuffers } from './frame-buffers.ts'
import { FRAME_BYTES, type PlainBytes, SealBrokenError } from './frame-cipher.ts'
import type { KeyRing } from './key-ring.ts'
import { blobRefOf, openInline } from './read-content.ts'
import { readChunk } from './read-chunk.ts'
import { compressionOf, type SealedBytes, sealPlain } from './sealing.ts'
import type { TenantKeys } from './tenant-keys.ts'

export interface ResealingParts {
  readonly blobs: Pick<Blobs, 'write' | 'copies' | 'reading' | 'report'>
  readonly state: View
  readonly ring: KeyRing
  readonly sealer: ChunkSealer
  readonly slots: ChunkSlots
  readonly buffers: FrameBuffers
  /** Brings `state` up to date. Throws Condition. */
  readonly readBarrier: () => Promise<void>
}

/** `birth`: of the new copies. Null: the chunk is gone or was made again. Throws Condition not_enough_replicas, SealBrokenError. */
export async function resealChunk(
  row: ChunkRecord,
  birth: string,
  signal: AbortSignal,
  parts: ResealingParts,
): Promise<ResealedChunk | null> {
  const { slots, ring, sealer, buffers } = parts
  const slot = await slots.acquire(row.tenantId, signal)
  const frames = new Frames(row.size, buffers)
  try {
    if (parts.state.get(chunkKeys.chunk(row.tenantId, row.id))?.birth !== row.birth) return null
    await frames.fill(plainOf(row, parts))
    const { keys } = ring.present
    await prove(row, frames.plain, { keys, sealer })
    const made = await sealer.seal(keys, { id: row.id, plain: frames.plain }, compressionOf(row))
    return await placed(row, birth, made, parts)
  } finally {
    frames.release()
    slot.release()
  }
}

export interface InlineToReseal {
  readonly chunkId: string
  /** Of the plain bytes. */
  readonly size: number
  readonly row: InlineBodyRecord
}

/** The same bytes, sealed with the present key. Throws SealBrokenError. */
export function resealInline(ring: KeyRing, body: InlineToReseal): Uint8Array {
  const { chunkId, size, row } = body
  const keys = ring.of(keyVersionOf(row))
  if (keys === undefined) throw new SealBrokenError('The key of an inline body was destroyed')
  const plain = Buffer.concat([
    ...openInline({ keys, chunkId, size, sealed: row.sealed }, { start: 0, end: size }),
  ])
  if (keys.chunkIdOf(plain) !== chunkId) throw notWhatItIs(chunkId)
  return sealPlain(ring.present.keys, chunkId, plain)
}

function plainOf(
  row: ChunkRecord,
  { blobs, state, ring, readBarrier }: ResealingParts,
): AsyncIterable<Buffer> {
  const locate = () => {
    const now = state.get(chunkKeys.chunk(row.tenantId, row.id))
    const keys = now === undefined ? undefined : ring.of(keyVersionOf(now))
    return now === undefined || keys === undefined ? null : { ref: blobRefOf(now), keys }
  }
  return readChunk(
    { blobs, id: row.id, plainSize: row.size, locate, readBarrier },
    { start: 0, end: row.size },
  )
}

/** Without it, a fault of memory between opening and sealing would be sealed for good. */
async function prove(
  { id }: ChunkRecord,
  plain: PlainBytes,
  { keys, sealer }: { readonly keys: TenantKeys; readonly sealer: ChunkSealer },
): Promise<void> {
  if ((await sealer.nameOf(keys, plain)) !== id) throw notWhatItIs(id)
}

function notWhatItIs(id: string): Error {
  return new Error(`The plain bytes of chunk '${id}' are not those of its id; it is not sealed again`)
}

async function placed(
  { id, tenantId, birth: from }: ChunkRecord,
  birth: string,
  { sealed, ...sums }: SealedBytes,
  { blobs, sealer }: Pick<ResealingParts, 'blobs' | 'sealer'>,
): Promise<ResealedChunk> {
  const name = { id: id as string, birth }
  const sealedSize = sealed.length
  const onSpent = (): void => sealer.release(sealed)
  const { replicas, missing } = await blobs.write({ ...name, bytes: sealed, ...sums, onSpent })
  const { checksum } = sums
  const ref: BlobRef = { ...name, size: sealedSize, checksum, replicas, owner: tenantId }
  for (const copy of blobs.copies(ref)) await checkCopy(copy, ref)
  return { chunkId: id, from, birth, sealedSize, checksum, replicas, missing }
}

/** The plain bytes of one chunk in frames, the whole ones in shared memory. */
class Frames {
  readonly #frames: Buffer[] = []
  readonly #buffers: FrameBuffers
  readonly #size: number

  constructor(size: number, buffers: FrameBuffers) {
    this.#size = size
    this.#buffers = buffers
    for (let at = 0; at < size; at += FRAME_BYTES)
      this.#frames.push(buffers.get(FrameBuffers.sizeFor(Math.min(FRAME_BYTES, size - at))))
  }

  get plain(): readonly Uint8Array[] {
    return this.#frames.map((buffer, frame) => buffer.subarray(0, this.#size - frame * FRAME_BYTES))
  }

  /** Throws Condition when no copy can be read. */
  async fill(pieces: AsyncIterable<Buffer>): Promise<void> {
    let at = 0
    for await (const piece of pieces)
      for (let from = 0; from < piece.length; ) {
        const frame = this.#frames[Math.floor(at / FRAME_BYTES)]
        if (frame === undefined) throw new Error('A chunk opens to more bytes than its row says')
        const moved = piece.copy(frame, at % FRAME_BYTES, from)
        from += moved
        at += moved
      }
    if (at !== this.#size) throw new Error(`A chunk opens to ${at} of its ${this.#size} bytes`)
  }

  release(): void {
    for (const buffer of this.#frames) this.#buffers.giveBack(buffer)
    this.#frames.length = 0
  }
}
