/**
 * A walk over the records of one value file, piece by piece, from its beginning.
 *
 * Owns: where the next record begins. Knows nothing of: which records count.
 * Rule: it ends where no record begins: at the end of the file, or where a crash has torn its last write.
 */
import {
  HEADER_BYTES,
  headerAt,
  KEY_BYTES_MAX,
  MAGIC,
  recordBytes,
  type ValueRecord,
} from './value-format.ts'
import type { ValueFiles } from './value-files.ts'
import type { ValuePlace } from './value-readers.ts'

export interface PlacedValue extends ValueRecord {
  readonly place: ValuePlace
}

const NOTHING = Buffer.alloc(0)

export class ValueWalk {
  readonly file: number
  readonly #files: Pick<ValueFiles, 'read' | 'sizeOf'>
  #offset: number = MAGIC.length
  #isOver = false

  constructor(files: Pick<ValueFiles, 'read' | 'sizeOf'>, file: number) {
    this.#files = files
    this.file = file
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Records within about `bytes`, one at least unless it is over. Throws StateDamagedError, or the error of a system that gives no access. */
  next(bytes: number): readonly PlacedValue[] {
    const start = this.#offset
    const piece = this.#read(start, bytes)
    const records: PlacedValue[] = []
    while (!this.#isOver) {
      const from = this.#offset - start
      const record = this.#recordAt(piece.subarray(from), records.length === 0)
      if (record === null) break
      records.push(record)
      this.#offset += recordBytes(record.key.length, record.value.length)
    }
    return records
  }

  /** Null: it is not whole in `bytes`, or there is none. */
  #recordAt(bytes: Buffer, isFirst: boolean): PlacedValue | null {
    const isShort = isFirst && bytes.length < HEADER_BYTES + KEY_BYTES_MAX
    const header = headerAt(isShort ? this.#read(this.#offset, HEADER_BYTES + KEY_BYTES_MAX) : bytes)
    if (header === null || header === 'torn') {
      this.#isOver = isFirst || header === 'torn'
      return null
    }
    const place = { file: this.file, offset: this.#offset + header.offset, length: header.length }
    if (place.offset + place.length > this.#files.sizeOf(this.file)) {
      this.#isOver = true
      return null
    }
    const end = header.offset + header.length
    if (end > bytes.length && !isFirst) return null
    const value = end > bytes.length ? this.#files.read(place) : bytes.subarray(header.offset, end)
    return { key: header.key, value, place }
  }

  #read(offset: number, length: number): Buffer {
    const left = this.#files.sizeOf(this.file) - offset
    // The file may be gone: its last value that counted was removed meanwhile.
    if (left <= 0) return NOTHING
    return this.#files.read({ file: this.file, offset, length: Math.min(length, left) })
  }
}
