/**
 * The objects of one benchmark: their keys and bytes follow from a number, so nothing needs to be remembered.
 *
 * Rule: no two pieces of any two objects are equal, and none can be compressed, so that neither deduplication nor
 * compression makes a figure look better than the work it represents.
 */
import { createHash, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'

const POOL_BYTES = 8 * 1024 * 1024
/** Bodies above this are sent as a stream of pieces of this size. Bytes. */
const PIECE_BYTES = 256 * 1024
const STAMP_BYTES = 16

export interface StoredObject {
  readonly index: number
  /** The node of the upload, as its place among the endpoints. */
  readonly node: number
}

export class BenchObjects {
  readonly size: number
  readonly #name: string
  readonly #pool: Buffer
  #given = 0
  readonly #stored: StoredObject[] = []

  constructor(name: string, size: number) {
    this.#name = name
    this.size = size
    this.#pool = randomBytes(POOL_BYTES)
  }

  next(): number {
    return this.#given++
  }

  keep(object: StoredObject): void {
    this.#stored.push(object)
  }

  /** The last one, for those who delete it. */
  take(): StoredObject | undefined {
    return this.#stored.pop()
  }

  get stored(): readonly StoredObject[] {
    return this.#stored
  }

  key(index: number): string {
    return `${this.#name}/${index.toString().padStart(9, '0')}`
  }

  body(index: number): Buffer | Readable {
    return this.size <= PIECE_BYTES
      ? this.#piece(index, 0)
      : Readable.from(this.pieces(index), { objectMode: false })
  }

  sha256(index: number): string {
    const hash = createHash('sha256')
    for (const piece of this.pieces(index)) hash.update(piece)
    return hash.digest('hex')
  }

  /** Whether these first bytes of a body belong to this object. */
  isOf(index: number, start: Buffer): boolean {
    return start.length < STAMP_BYTES || start.subarray(0, STAMP_BYTES).equals(stamp(index, 0))
  }

  /** The whole body. */
  *pieces(index: number): Generator<Buffer> {
    for (let at = 0; at < this.size; at += PIECE_BYTES) yield this.#piece(index, at)
  }

  #piece(index: number, at: number): Buffer {
    const length = Math.min(PIECE_BYTES, this.size - at)
    // Any start works; a prime step makes neighbours differ in more than the stamp.
    const from = ((index * 7919 + at) * 61) % (POOL_BYTES - PIECE_BYTES)
    const piece = Buffer.from(this.#pool.subarray(from, from + length))
    stamp(index, at).copy(piece)
    return piece
  }
}

function stamp(index: number, at: number): Buffer {
  const bytes = Buffer.alloc(STAMP_BYTES)
  bytes.writeDoubleBE(index, 0)
  bytes.writeDoubleBE(at, 8)
  return bytes
}
