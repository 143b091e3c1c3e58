/**
 * Iterates over the frames of a sealed chunk of any format.
 *
 * Owns: cutting a stream of sealed bytes into frames. Knows nothing of: formats, keys, copies.
 * Rule: frames are returned in order, whole, and only after they have opened.
 */
import type { ChunkId } from '../state-machine/base/record-ids.ts'
import { FRAME_BYTES, SealBrokenError } from './frame-cipher.ts'
import { releaseBytes } from './spent-bytes.ts'
import type { TenantKeys } from './tenant-keys.ts'

/** A chunk as described by its row and link, with the keys to open it. */
export interface SealedChunk {
  readonly keys: TenantKeys
  readonly id: ChunkId
  readonly size: number
  readonly sealedSize: number
}

/** Where frames are, and how each is opened. */
export interface FrameLayout {
  /** Offset of a frame in the sealed bytes; for the number after the last frame their end. */
  offsetOf(frame: number): number
  readonly plainSize: number
  /** Returns the plain bytes in a buffer of their own. Throws SealBrokenError. */
  open(frame: number, sealed: Buffer): Buffer
}

/** Frames [first, end). */
export interface FrameSpan {
  readonly first: number
  readonly end: number
}

/**
 * Yields the plain bytes of the span, in order, as its sealed bytes arrive: all frames that end in one piece come together.
 * A piece is no longer read once the next one is requested. Throws SealBrokenError after yielding the frames before the broken one.
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
  /** The bytes of the next frame from earlier pieces. */
  #partial: Buffer | null = null
  #partialBytes = 0

  constructor(layout: FrameLayout, { first, end }: FrameSpan) {
    this.#layout = layout
    this.#next = first
    this.#end = end
  }

  get next(): number {
    return this.#next
  }

  /** Returns the frames that are complete with this piece. Ignores bytes after the last frame. */
  cut(piece: Buffer): Buffer[] {
    const frames: Buffer[] = []
    for (let at = 0; this.#next < this.#end && at < piece.length; ) {
      const length = this.#layout.offsetOf(this.#next + 1) - this.#layout.offsetOf(this.#next)
      const part = piece.subarray(at, at + length - this.#partialBytes)
      at += part.length
      const frame = part.length === length ? part : this.#join(part, length)
      if (frame === null) break
      frames.push(frame)
      this.#next += 1
    }
    return frames
  }

  /** Null while the frame is incomplete. */
  #join(part: Buffer, length: number): Buffer | null {
    const joined = (this.#partial ??= Buffer.allocUnsafeSlow(length))
    joined.set(part, this.#partialBytes)
    this.#partialBytes += part.length
    if (this.#partialBytes < length) return null
    this.#partial = null
    this.#partialBytes = 0
    return joined
  }
}

/** Yields the frames that open before one that does not: the reader continues after them on another copy. */
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
