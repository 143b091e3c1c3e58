/**
 * Plain bytes of one chunk from whichever copy can give them.
 *
 * Owns: falling over between copies, and saying which copy is at fault. Knows nothing of: objects and manifests.
 * Rules: bytes leave only after their frame was authenticated, each exactly once, in order, whatever number of copies
 * they come from. A copy is accused only of what was proved: bytes that do not open are compared with the committed
 * checksum first, or a wrong key here could condemn every good copy there is.
 */
import { AssertionError } from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  BlobDamagedError,
  BlobMissingError,
  Condition,
  type BlobCopy,
  type BlobRef,
  type Blobs,
} from '../../cluster/index.ts'
import { FRAME_BYTES, SealBrokenError } from './frame-cipher.ts'
import { openFrames } from './frame-layout.ts'
import type { ChunkId } from '../state-machine/records.ts'
import type { ByteRange } from './range.ts'
import { layoutBytesOf, layoutOf } from './sealing.ts'
import type { TenantKeys } from './tenant-keys.ts'

/** Copies may move while a reader tries them; a row that changed meanwhile is worth another try, this often. */
const ROWS_TRIED_MAX = 3

export interface ChunkToRead {
  readonly blobs: Pick<Blobs, 'copies' | 'report'>
  readonly keys: TenantKeys
  readonly id: ChunkId
  readonly plainSize: number
  /** Where the copies are, as committed now; null when the chunk is gone. */
  readonly locate: () => BlobRef | null
}

/** Throws Condition not_enough_replicas when no copy can give the next byte. */
export async function* readChunk(chunk: ChunkToRead, range: ByteRange): AsyncGenerator<Buffer> {
  const reading = new ChunkReading(chunk, range)
  let ref = chunk.locate()
  for (let rows = 0; ref !== null && rows < ROWS_TRIED_MAX; rows += 1) {
    for (const copy of chunk.blobs.copies(ref)) {
      yield* reading.continueFrom(copy, ref)
      if (reading.isDone) return
    }
    const now = chunk.locate()
    if (now === null || isSamePlace(now, ref)) break
    ref = now
  }
  throw new Condition('not_enough_replicas', `No copy of chunk '${ref?.id}' could be read`, {
    cause: new AggregateError(reading.faults, 'what each copy answered'),
  })
}

class ChunkReading {
  readonly faults: unknown[] = []
  readonly #chunk: ChunkToRead
  readonly #end: number
  #position: number

  constructor(chunk: ChunkToRead, range: ByteRange) {
    this.#chunk = chunk
    this.#position = range.start
    this.#end = range.end
  }

  get isDone(): boolean {
    return this.#position === this.#end
  }

  /** Yields from where the copy before it stopped; returns at the end, or when this copy fails. */
  async *continueFrom(copy: BlobCopy, ref: BlobRef): AsyncGenerator<Buffer> {
    try {
      for await (const frame of this.#frames(copy, ref)) {
        const within = this.#position % FRAME_BYTES
        const plain = frame.subarray(within, within + this.#end - this.#position)
        this.#position += plain.length
        yield plain
      }
    } catch (fault) {
      if (fault instanceof AssertionError) throw fault
      this.faults.push(fault)
      await this.#accuse(copy, ref, fault)
    }
  }

  /** The format is that of this making of the chunk: copies of another birth may lie in another. */
  async *#frames(copy: BlobCopy, ref: BlobRef): AsyncGenerator<Buffer> {
    const { keys, id, plainSize } = this.#chunk
    const chunk = { keys, id, size: plainSize, sealedSize: ref.size }
    const first = Math.floor(this.#position / FRAME_BYTES)
    const end = Math.ceil(this.#end / FRAME_BYTES)
    const layout = layoutOf(chunk, await readHead(copy, layoutBytesOf(chunk)))
    const sealed = copy.read(layout.offsetOf(first), layout.offsetOf(end))
    yield* openFrames(sealed, layout, { first, end })
  }

  async #accuse(copy: BlobCopy, ref: BlobRef, fault: unknown): Promise<void> {
    const proven = fault instanceof SealBrokenError ? await this.#faultOfWhole(copy, ref) : fault
    if (proven instanceof BlobMissingError) this.#chunk.blobs.report(ref, copy.nodeId, 'missing')
    if (proven instanceof BlobDamagedError) this.#chunk.blobs.report(ref, copy.nodeId, 'damaged')
  }

  /** Reads the whole copy as it lies there; null when it is what was committed, and the fault is elsewhere. */
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

async function readHead(copy: BlobCopy, bytes: number): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  if (bytes > 0) for await (const piece of copy.read(0, bytes)) pieces.push(piece)
  return Buffer.concat(pieces)
}

function isSamePlace(a: BlobRef, b: BlobRef): boolean {
  return a.birth === b.birth && a.replicas.join() === b.replicas.join()
}
