/**
 * The objects of the damage run: sizes from one byte to many chunks, bytes that follow from a number.
 *
 * Rules: most objects are small, as in every store, but each decade of sizes occurs; no two chunks are equal and none can
 * be compressed.
 */
import { createCipheriv, createHash, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'

/** Above 1: the larger, the more small objects. With at most 20 MiB the mean is about 0.6 MiB. */
const SKEW = 2.2
const PIECE_BYTES = 256 * 1024
const ZEROS = Buffer.alloc(PIECE_BYTES)

export class DamageObjects {
  readonly sizes: readonly number[]
  readonly #key = randomBytes(16)
  readonly #digests = new Map<number, string>()

  /** Sizes cover the whole range for any count. */
  constructor(count: number, bytesMax: number) {
    this.sizes = Array.from({ length: count }, (_, index) =>
      Math.round(bytesMax ** ((index / Math.max(1, count - 1)) ** SKEW)),
    )
  }

  get bytes(): number {
    return this.sizes.reduce((sum, size) => sum + size, 0)
  }

  size(index: number): number {
    return this.sizes[index] ?? 0
  }

  key(index: number): string {
    return `damage/${index.toString().padStart(6, '0')}`
  }

  body(index: number): Readable {
    return Readable.from(this.#pieces(index), { objectMode: false })
  }

  /** SHA-256, lower-case hex. */
  digest(index: number): string {
    let digest = this.#digests.get(index)
    if (digest === undefined) {
      const hash = createHash('sha256')
      for (const piece of this.#pieces(index)) hash.update(piece)
      digest = hash.digest('hex')
      this.#digests.set(index, digest)
    }
    return digest
  }

  *#pieces(index: number): Generator<Buffer> {
    const start = Buffer.alloc(16)
    start.writeUInt32BE(index, 0)
    const stream = createCipheriv('aes-128-ctr', this.#key, start)
    for (let left = this.size(index); left > 0; left -= PIECE_BYTES)
      yield stream.update(ZEROS.subarray(0, Math.min(left, PIECE_BYTES)))
  }
}
