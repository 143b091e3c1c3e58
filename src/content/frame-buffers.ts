/**
 * Buffers for the frames of chunks that are not sealed yet.
 *
 * Owns: their sizes, the spare ones. Knows nothing of: who may have how many (upload-memory.ts).
 * Rule: a whole frame is in shared memory, so that a sealing thread reads it without a copy; a short one is in a buffer of its
 * own, which is copied to the thread.
 */
import { FRAME_BYTES } from './frame-cipher.ts'

/** The first bytes of a body are few: a buffer grows with what arrives, to the size of a frame. */
const BUFFER_BYTES = [4 * 1024, 16 * 1024, FRAME_BYTES] as const
/** Four chunks: more are made when more collect at the same moment. */
const SPARES_MAX = 256

export class FrameBuffers {
  readonly #spares: Buffer[] = []

  /** The smallest size that holds so many bytes of a frame. */
  static sizeFor(bytes: number): number {
    return BUFFER_BYTES.find((size) => size >= bytes) ?? FRAME_BYTES
  }

  /** `size`: one that `sizeFor` gave. The contents are those of an earlier use. */
  get(size: number): Buffer {
    if (size < FRAME_BYTES) return Buffer.allocUnsafeSlow(size)
    return this.#spares.pop() ?? Buffer.from(new SharedArrayBuffer(FRAME_BYTES))
  }

  /** Nothing reads or writes the buffer any more. */
  giveBack(buffer: Buffer): void {
    if (buffer.length === FRAME_BYTES && this.#spares.length < SPARES_MAX) this.#spares.push(buffer)
  }
}
