/**
 * The walk over the frames of a sealed chunk, whatever its format.
 *
 * Owns: cutting a stream of sealed bytes into frames. Knows nothing of: formats, keys, copies.
 * Rule: frames come in order, whole, and only after they opened.
 */
import type { ChunkId } from '../state-machine/records.ts'
import { SealBrokenError } from './frame-cipher.ts'
import type { TenantKeys } from './tenant-keys.ts'

/** A chunk as its row and links describe it, with the keys to open it. */
export interface SealedChunk {
  readonly keys: TenantKeys
  readonly id: ChunkId
  readonly size: number
  readonly sealedSize: number
}

/** Where frames lie, and how each is opened. */
export interface FrameLayout {
  /** Where a frame begins in the sealed bytes; the one after the last begins at their end. */
  offsetOf(frame: number): number
  /** The plain bytes. Throws SealBrokenError. */
  open(frame: number, sealed: Buffer): Buffer
}

/** Frames [first, end). */
export interface FrameSpan {
  readonly first: number
  readonly end: number
}

/** The plain bytes of each frame of the span, in order, as the sealed bytes of the span arrive. Throws SealBrokenError. */
export async function* openFrames(
  source: AsyncIterable<Uint8Array>,
  layout: FrameLayout,
  span: FrameSpan,
): AsyncGenerator<Buffer> {
  let frame = span.first
  let waiting: Buffer = Buffer.alloc(0)
  for await (const piece of source) {
    waiting = waiting.length === 0 ? asBuffer(piece) : Buffer.concat([waiting, piece])
    while (frame < span.end) {
      const length = layout.offsetOf(frame + 1) - layout.offsetOf(frame)
      if (waiting.length < length) break
      const sealed = waiting.subarray(0, length)
      waiting = waiting.subarray(length)
      yield layout.open(frame, sealed)
      frame += 1
    }
    if (frame === span.end) return
  }
  if (frame < span.end) throw new SealBrokenError(`The sealed bytes end in frame ${frame} of ${span.end}`)
}

function asBuffer(piece: Uint8Array): Buffer {
  return Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
}
