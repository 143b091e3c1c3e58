/**
 * Writes a file from its first byte on without the page cache: through one piece of block memory after the other.
 *
 * Owns: the memory while it is filled and written, and the zeros after the last byte. Knows nothing of: files, checksums.
 * Rules: a piece is not referenced once `add` has resolved; its sender may reuse the memory. Every write but the last fills the memory, so
 * each begins where a block does.
 */
import { type BlockMemories, wholeBlocks } from '../../base/block-memory.ts'

export interface UncachedWritesOptions {
  /** Written before everything else; shorter than the memory. */
  readonly head: Uint8Array
  readonly memories: BlockMemories
  /** Sees the bytes that are about to be written, without head and zeros. Throws what refuses them. */
  readonly check: (bytes: Uint8Array) => void
  /** Appends whole blocks. The memory is used for nothing else until this settles. */
  readonly write: (blocks: Uint8Array) => Promise<void>
}

export class UncachedWrites {
  readonly #options: UncachedWritesOptions
  readonly #memory: Buffer<ArrayBuffer>
  #filled: number
  /** Where the bytes after the head begin in the memory. */
  #checked: number

  constructor(options: UncachedWritesOptions) {
    this.#options = options
    this.#memory = options.memories.take()
    this.#memory.set(options.head, 0)
    this.#filled = this.#checked = options.head.length
  }

  async add(piece: Uint8Array): Promise<void> {
    for (let at = 0; at < piece.length; ) {
      const part = piece.subarray(at, at + this.#memory.length - this.#filled)
      this.#memory.set(part, this.#filled)
      this.#filled += part.length
      at += part.length
      if (this.#filled === this.#memory.length) await this.#write()
    }
  }

  /** Writes the rest. The zeros that fill its last block make the file longer than its bytes. */
  async flush(): Promise<void> {
    if (this.#filled > 0) await this.#write()
  }

  /** No write may be in progress, and none may follow. */
  end(): void {
    this.#options.memories.giveBack(this.#memory)
  }

  async #write(): Promise<void> {
    this.#options.check(this.#memory.subarray(this.#checked, this.#filled))
    const end = wholeBlocks(this.#filled)
    this.#memory.fill(0, this.#filled, end)
    await this.#options.write(this.#memory.subarray(0, end))
    this.#filled = this.#checked = 0
  }
}
