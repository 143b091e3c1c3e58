/**
 * One chunk of an upload while its bytes arrive: frames of FRAME_BYTES, the last of them growing.
 *
 * Owns: the buffers of the chunk, and that the memory for each was granted first. Knows nothing of: sealing, who else uploads.
 * Rules: a client that sends little makes the node hold little; once the chunk was preempted or released no code writes to its
 * buffers, which another upload may have by then.
 */
import type { BodyReader } from './body-reader.ts'
import { CHUNK_BYTES } from './chunk-slots.ts'
import { FrameBuffers } from './frame-buffers.ts'
import { FRAME_BYTES } from './frame-cipher.ts'
import type { ChunkShare } from './upload-memory.ts'

export class CollectedChunk {
  readonly #share: ChunkShare
  readonly #buffers: FrameBuffers
  /** Each one a buffer of FrameBuffers; all but the last are full. */
  #frames: Buffer[] = []
  #size = 0

  constructor(share: ChunkShare, buffers: FrameBuffers) {
    this.#share = share
    this.#buffers = buffers
  }

  get size(): number {
    return this.#size
  }

  /** The plain bytes, frame by frame, until `release`. */
  get frames(): readonly Uint8Array[] {
    return this.#frames.map((buffer, frame) => buffer.subarray(0, this.#size - frame * FRAME_BYTES))
  }

  /** `start` and what the reader has, up to a whole chunk. Rejects with the signal's reason; then `release` is still due. */
  async fill(reader: BodyReader, start: Buffer, signal: AbortSignal): Promise<void> {
    for (let at = 0; at < start.length; ) {
      const { frame, offset } = await this.#tail(start.length - at, signal)
      const moved = start.copy(frame, offset, at)
      at += moved
      this.#size += moved
    }
    while (this.#size < CHUNK_BYTES && (await reader.hasMore())) {
      const { frame, offset } = await this.#tail(reader.available, signal)
      this.#size += reader.moveTo(frame, offset) - offset
    }
    signal.throwIfAborted()
    this.#share.whole()
  }

  /** Gives buffers and memory back. Idempotent. */
  release(): void {
    for (const buffer of this.#frames) this.#buffers.giveBack(buffer)
    this.#frames = []
    this.#share.release()
  }

  /** The frame that is next to be written, with room for `bytes` or for as many as fit in a frame. */
  async #tail(
    bytes: number,
    signal: AbortSignal,
  ): Promise<{ readonly frame: Buffer; readonly offset: number }> {
    // It was preempted after the reader had bytes for it.
    signal.throwIfAborted()
    const offset = this.#size % FRAME_BYTES
    const last = offset === 0 ? undefined : this.#frames.at(-1)
    const needed = Math.min(offset + bytes, FRAME_BYTES)
    if (last !== undefined && last.length >= needed) return { frame: last, offset }
    const size = FrameBuffers.sizeFor(needed)
    const turn = this.#share.take(size, signal)
    if (turn !== null) await turn
    signal.throwIfAborted()
    const frame = this.#buffers.get(size)
    if (last !== undefined) {
      last.copy(frame, 0, 0, offset)
      this.#frames.pop()
      this.#buffers.giveBack(last)
      this.#share.give(last.length)
    }
    this.#frames.push(frame)
    return { frame, offset }
  }
}
