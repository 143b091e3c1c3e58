/**
 * The walk over the frames of a sealed chunk, whatever its format.
 *
 * Owns: cutting a stream of sealed bytes into frames. Knows nothing of: formats, keys, copies.
 * Rule: frames come in order, whole, and only after they opened.
 */
import type { ChunkId } from '../state-machine/base/record-ids.ts'
import { FRAME_BYTES, SealBrokenError } from './frame-cipher.ts'
import { releaseBytes } from './spent-bytes.ts'
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
  readonly plainSize: number
  /** The plain bytes, in a buffer of their own. Throws SealBrokenError. */
  open(frame: number, sealed: Buffer): Buffer
}

/** Frames [first, end). */
export interface FrameSpan {
  readonly first: number
  readonly end: number
}

/**
 * The plain bytes of the span, in order, as its sealed bytes arrive: those of all frames that end in one piece come together.
 * A piece is not looked at any more when the next one is asked for. Throws SealBrokenError, after the frames before.
 */
export async function* openFrames(
  source: AsyncIterable<Uint8Array>,
  layout: FrameLayout,
  span: FrameSpan,
): AsyncGenerator<Buffer> {
  const cutter = new FrameCutter(layout, span)
  for await (const piece of source) {
    const first = cutter.next
    const frames = cutter.cut(asBuffer(piece))
    if (frames.length > 0) yield* opened(frames, layout, first)
    for (const frame of frames) if (frame.buffer !== piece.buffer) releaseBytes(frame)
    if (cutter.next === span.end) return
  }
  if (cutter.next < span.end)
    throw new SealBrokenError(`The sealed bytes end in frame ${cutter.next} of ${span.end}`)
}

/** Copies only the frames that begin in one piece and end in another. */
class FrameCutter {
  readonly #layout: FrameLayout
  readonly #end: number
  #next: number
  /** What came of the next frame with the pieces before. */
  #begun: Buffer | null = null
  #begunBytes = 0

  constructor(layout: FrameLayout, { first, end }: FrameSpan) {
    this.#layout = layout
    this.#next = first
    this.#end = end
  }

  get next(): number {
    return this.#next
  }

  /** The frames that are complete with this piece. Bytes behind the last frame are not wanted. */
  cut(piece: Buffer): Buffer[] {
    const frames: Buffer[] = []
    for (let at = 0; this.#next < this.#end && at < piece.length; ) {
      const length = this.#layout.offsetOf(this.#next + 1) - this.#layout.offsetOf(this.#next)
      const part = piece.subarray(at, at + length - this.#begunBytes)
      at += part.length
      const frame = part.length === length ? part : this.#join(part, length)
      if (frame === null) break
      frames.push(frame)
      this.#next += 1
    }
    return frames
  }

  /** Null while it is not complete. */
  #join(part: Buffer, length: number): Buffer | null {
    const joined = (this.#begun ??= Buffer.allocUnsafeSlow(length))
    joined.set(part, this.#begunBytes)
    this.#begunBytes += part.length
    if (this.#begunBytes < length) return null
    this.#begun = null
    this.#begunBytes = 0
    return joined
  }
}

/** What opened before a frame that does not open is given all the same: another copy goes on behind it. */
function* opened(frames: readonly Buffer[], layout: FrameLayout, first: number): Generator<Buffer> {
  const [only] = frames
  if (only !== undefined && frames.length === 1) return yield layout.open(first, only)
  const end = Math.min((first + frames.length) * FRAME_BYTES, layout.plainSize)
  const together = Buffer.allocUnsafeSlow(end - first * FRAME_BYTES)
  let filled = 0
  try {
    for (const [n, sealed] of frames.entries()) {
      const plain = layout.open(first + n, sealed)
      together.set(plain, filled)
      filled += plain.length
      releaseBytes(plain)
    }
  } catch (cause) {
    if (filled > 0) yield together.subarray(0, filled)
    throw cause
  }
  yield together
}

function asBuffer(piece: Uint8Array): Buffer {
  return Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
}
