/**
 * Gathers small pieces in one buffer, so that the disk gets few large writes.
 *
 * Owns: the buffer. Knows nothing of: files. Rule: a piece is not referenced once `add` has resolved; its sender may reuse the
 * memory.
 */
import { releaseBytes } from '../base/spent-bytes.ts'

/** Pieces from a socket are small; this many bytes are written to the disk at once. One blob in flight buffers no more. */
const WRITE_BYTES = 512 * 1024
/** Pieces of this size and more are written directly. */
const UNGATHERED_FROM_BYTES = 256 * 1024

export class GatheredWrites {
  readonly #write: (bytes: Uint8Array) => Promise<void>
  readonly #buffer: Buffer
  #filled = 0

  /** `sizeMax`: the most bytes that `add` will receive. */
  constructor(sizeMax: number, write: (bytes: Uint8Array) => Promise<void>) {
    this.#write = write
    this.#buffer = Buffer.allocUnsafeSlow(Math.min(sizeMax, WRITE_BYTES))
  }

  async add(piece: Uint8Array): Promise<void> {
    if (piece.length >= UNGATHERED_FROM_BYTES) {
      await this.flush()
      return this.#write(piece)
    }
    for (let at = 0; at < piece.length; ) {
      const part = piece.subarray(at, at + this.#buffer.length - this.#filled)
      this.#buffer.set(part, this.#filled)
      this.#filled += part.length
      at += part.length
      if (this.#filled === this.#buffer.length) await this.flush()
    }
  }

  async flush(): Promise<void> {
    if (this.#filled === 0) return
    await this.#write(this.#buffer.subarray(0, this.#filled))
    this.#filled = 0
  }

  /** Frees the buffer. No write may be in progress, and none may follow. */
  end(): void {
    releaseBytes(this.#buffer)
  }
}
