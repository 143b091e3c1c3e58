/**
 * Gathers the bytes of a file so that the disk gets few large writes: each of them costs this thread a call to another one.
 *
 * Owns: the buffer. Knows nothing of: files, checksums. Rule: a piece is not referenced once `add` has resolved; its sender may reuse the
 * memory.
 */
import { releaseBytes } from '../base/spent-bytes.ts'

/** Pieces from a socket are small; this many bytes are written to the disk at once. One blob in flight buffers no more. */
const WRITE_BYTES = 512 * 1024
/** Pieces of this size and more are written where they are, together with what was gathered before. */
const UNGATHERED_FROM_BYTES = 256 * 1024

export interface GatheredWritesOptions {
  /** Written before everything else, with the first bytes. */
  readonly head: Uint8Array
  /** The most bytes that `add` will receive. */
  readonly sizeMax: number
  /** Sees each piece before it is gathered. Throws what refuses it. */
  readonly check: (piece: Uint8Array) => void
  /** Writes the pieces one after the other. */
  readonly write: (pieces: readonly Uint8Array[]) => Promise<void>
}

export class GatheredWrites {
  readonly #options: GatheredWritesOptions
  #head: Uint8Array | null
  /** Null until a piece is gathered. */
  #buffer: Buffer | null = null
  #filled = 0

  constructor(options: GatheredWritesOptions) {
    this.#options = options
    this.#head = options.head
  }

  async add(piece: Uint8Array): Promise<void> {
    this.#options.check(piece)
    if (piece.length >= UNGATHERED_FROM_BYTES) return this.#write(piece)
    this.#buffer ??= Buffer.allocUnsafeSlow(Math.min(this.#options.sizeMax, WRITE_BYTES))
    for (let at = 0; at < piece.length; ) {
      const part = piece.subarray(at, at + this.#buffer.length - this.#filled)
      this.#buffer.set(part, this.#filled)
      this.#filled += part.length
      at += part.length
      if (this.#filled === this.#buffer.length) await this.#write()
    }
  }

  /** Also writes the head of a file without any byte. */
  async flush(): Promise<void> {
    if (this.#filled > 0 || this.#head !== null) await this.#write()
  }

  /** Frees the buffer. No write may be in progress, and none may follow. */
  end(): void {
    if (this.#buffer !== null) releaseBytes(this.#buffer)
  }

  async #write(...more: readonly Uint8Array[]): Promise<void> {
    const gathered =
      this.#buffer === null || this.#filled === 0 ? [] : [this.#buffer.subarray(0, this.#filled)]
    const head = this.#head === null ? [] : [this.#head]
    await this.#options.write([...head, ...gathered, ...more])
    this.#head = null
    this.#filled = 0
  }
}
