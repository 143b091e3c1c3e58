/**
 * Memory that can be written to a file without the page cache: it begins at a page, and is written in whole blocks.
 *
 * Owns: where such memory comes from, and how much of it is kept for the next write. Knows nothing of: files.
 * Rule: memory is given back only when no system call uses it any more; the next write overwrites it.
 */

/** Offset, length and address of a write without the page cache are multiples of it: the blocks of any common disk divide it. Bytes. */
export const BLOCK_BYTES = 4096

export function wholeBlocks(bytes: number): number {
  return Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES
}

/**
 * `bytes`: whole blocks. V8 maps a resizable buffer by pages of its own; any other one begins wherever the allocator has room. Whether the system
 * takes such memory, `FileOps.createUncached` asks before anything is written.
 */
export function blockMemory(bytes: number): Buffer<ArrayBuffer> {
  return Buffer.from(new ArrayBuffer(bytes, { maxByteLength: bytes }))
}

/** Memory of one size. At most `keptMax` unused pieces of it are kept. */
export class BlockMemories {
  readonly #bytes: number
  readonly #keptMax: number
  readonly #kept: Buffer<ArrayBuffer>[] = []

  constructor(bytes: number, keptMax: number) {
    this.#bytes = bytes
    this.#keptMax = keptMax
  }

  /** With any contents. */
  take(): Buffer<ArrayBuffer> {
    return this.#kept.pop() ?? blockMemory(this.#bytes)
  }

  giveBack(memory: Buffer<ArrayBuffer>): void {
    if (this.#kept.length < this.#keptMax) this.#kept.push(memory)
    // Not at the next garbage collection: the pages go back at once.
    else memory.buffer.resize(0)
  }
}
