/**
 * Reads plain bytes of one chunk from any copy that can provide them.
 *
 * Owns: switching between copies, reporting the copy that is at fault. Knows nothing of: objects and manifests.
 * Rules: bytes leave only after their frame was authenticated, each exactly once, in order, from any number of copies. A
 * copy is reported only for a proved fault: bytes that do not open are first compared with the committed checksum; otherwise
 * a wrong key on this node could condemn every good copy.
 */
import { AssertionError } from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  BlobDamagedError,
  BlobMissingError,
  Condition,
  type BlobCopy,
  type BlobReading,
  type BlobRef,
  type Blobs,
  type OpenedCopy,
} from '../../cluster/index.ts'
import { FRAME_BYTES, SealBrokenError } from './frame-cipher.ts'
import { type FrameLayout, openFrames, type SealedChunk } from './frame-layout.ts'
import type { ChunkId } from '../state-machine/base/record-ids.ts'
import type { ByteRange } from './range.ts'
import { layoutBytesOf, layoutOf } from './sealing.ts'
import { releasing } from './spent-bytes.ts'
import type { TenantKeys } from './tenant-keys.ts'

/** Copies may move while a reader tries them: so often all copies that the row lists are tried. */
const ROUNDS_MAX = 3

/** Copies of another birth may be sealed with another key. */
export interface LocatedChunk {
  readonly ref: BlobRef
  readonly keys: TenantKeys
}

export interface ChunkToRead {
  readonly blobs: Pick<Blobs, 'reading' | 'report'>
  readonly id: ChunkId
  readonly plainSize: number
  /** Where the copies are and what opens them, as this node has applied it; null: the chunk is gone. */
  readonly locate: () => LocatedChunk | null
  /** After it resolves, `locate` knows what was committed before the call. Throws Condition. */
  readonly readBarrier: () => Promise<void>
}

/** Throws Condition not_enough_replicas if no copy can provide the next byte. */
export async function* readChunk(chunk: ChunkToRead, range: ByteRange): AsyncGenerator<Buffer> {
  const reading = new ChunkReading(chunk, range)
  let place = chunk.locate()
  for (let round = 0; place !== null && round < ROUNDS_MAX; round += 1) {
    const copies = chunk.blobs.reading(place.ref)
    while (yield* reading.continueFrom(copies, place)) {
      if (reading.isDone) return
    }
    reading.faults.push(...copies.faults)
    place = await reading.nextPlace(place.ref)
  }
  throw new Condition('not_enough_replicas', `No copy of chunk '${chunk.id}' could be read`, {
    cause: new AggregateError(reading.faults, faultsText(reading.faults)),
  })
}

class ChunkReading {
  readonly faults: unknown[] = []
  readonly #chunk: ChunkToRead
  readonly #end: number
  #position: number
  #isCurrent = false

  constructor(chunk: ChunkToRead, range: ByteRange) {
    this.#chunk = chunk
    this.#position = range.start
    this.#end = range.end
  }

  get isDone(): boolean {
    return this.#position === this.#end
  }

  /** Continues where the previous copy stopped, until the end or a fault of the next copy; returns false when no copy is left. */
  async *continueFrom(copies: BlobReading, place: LocatedChunk): AsyncGenerator<Buffer, boolean> {
    const { start, end } = this.#firstRead(place)
    const opened = await copies.next(start, end)
    if (opened === null) return false
    try {
      for await (const frames of this.#frames(opened, place)) {
        const within = this.#position % FRAME_BYTES
        const plain = frames.subarray(within, within + this.#end - this.#position)
        this.#position += plain.length
        yield plain
      }
    } catch (fault) {
      if (fault instanceof AssertionError) throw fault
      this.faults.push(fault)
      await this.#accuse(opened.copy, place.ref, fault)
    }
    return true
  }

  /**
   * Where to read next, after every copy in `ref` has failed; null: nowhere. The rows of this node may be older than the copies: once,
   * they are brought up to date. Copies that have not moved are tried again only if one of them may have failed for the moment.
   */
  async nextPlace(ref: BlobRef): Promise<LocatedChunk | null> {
    const known = this.#chunk.locate()
    if (known === null || !isSamePlace(known.ref, ref)) return known
    if (this.#isCurrent) return null
    this.#isCurrent = true
    try {
      await this.#chunk.readBarrier()
    } catch (fault) {
      this.faults.push(fault)
      return null
    }
    const now = this.#chunk.locate()
    const isElsewhere = now !== null && !isSamePlace(now.ref, ref)
    return isElsewhere || this.faults.some(mayPass) ? now : null
  }

  /** The first bytes to read: the layout of the frames, or the frames themselves if the layout is known. */
  #firstRead(place: LocatedChunk): ByteRange {
    const chunk = this.#sealed(place)
    const headBytes = layoutBytesOf(chunk)
    return headBytes > 0 ? { start: 0, end: headBytes } : this.#wanted(layoutOf(chunk, Buffer.alloc(0)))
  }

  async *#frames({ copy, pieces }: OpenedCopy, place: LocatedChunk): AsyncGenerator<Buffer> {
    const chunk = this.#sealed(place)
    const hasHead = layoutBytesOf(chunk) > 0
    const layout = layoutOf(chunk, hasHead ? await wholeOf(pieces) : Buffer.alloc(0))
    const { start, end } = this.#wanted(layout)
    yield* openFrames(releasing(hasHead ? copy.read(start, end) : pieces), layout, this.#span)
  }

  /** The chunk as of this place: copies of another birth may have another format and another key. */
  #sealed({ ref, keys }: LocatedChunk): SealedChunk {
    const { id, plainSize } = this.#chunk
    return { keys, id, size: plainSize, sealedSize: ref.size }
  }

  /** The frames that contain the remaining bytes. */
  get #span(): { readonly first: number; readonly end: number } {
    return { first: Math.floor(this.#position / FRAME_BYTES), end: Math.ceil(this.#end / FRAME_BYTES) }
  }

  #wanted(layout: FrameLayout): ByteRange {
    const { first, end } = this.#span
    return { start: layout.offsetOf(first), end: layout.offsetOf(end) }
  }

  async #accuse(copy: BlobCopy, ref: BlobRef, fault: unknown): Promise<void> {
    const proven = fault instanceof SealBrokenError ? await this.#faultOfWhole(copy, ref) : fault
    if (proven instanceof BlobMissingError) this.#chunk.blobs.report(ref, copy.nodeId, 'missing')
    if (proven instanceof BlobDamagedError) this.#chunk.blobs.report(ref, copy.nodeId, 'damaged')
  }

  /** Reads the whole copy; null: it equals the committed bytes, so the fault is elsewhere. */
  async #faultOfWhole(copy: BlobCopy, ref: BlobRef): Promise<unknown> {
    const hash = createHash('sha256')
    try {
      for await (const piece of copy.read(0, ref.size)) hash.update(piece)
    } catch (fault) {
      this.faults.push(fault)
      return fault
    }
    if (hash.digest('hex') === ref.checksum) return null
    return new BlobDamagedError(
      `The copy of '${ref.id}' on '${copy.nodeId}' differs from its committed checksum`,
    )
  }
}

/** A copy that is slow or out of reach may answer a moment later, one that is gone or damaged will not. */
function mayPass(fault: unknown): boolean {
  const isFinal =
    fault instanceof BlobMissingError || fault instanceof BlobDamagedError || fault instanceof SealBrokenError
  return !isFinal
}

/** Equal faults of several copies are named once. */
function faultsText(faults: readonly unknown[]): string {
  const texts = faults.map((fault) => (fault instanceof Error ? fault.message : String(fault)))
  return texts.length === 0 ? 'there is no copy to try' : [...new Set(texts)].join('; ')
}

async function wholeOf(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = []
  for await (const piece of pieces) all.push(piece)
  return Buffer.concat(all)
}

function isSamePlace(a: BlobRef, b: BlobRef): boolean {
  return a.birth === b.birth && a.replicas.join() === b.replicas.join()
}
