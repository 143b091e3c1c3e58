/**
 * A walk over rows that are named by an object key, one at a time, with steps over everything that begins alike.
 *
 * Owns: the iterator and its order. Rule: every row must ascend; nothing is decoded that nobody asked for.
 */
import { type KeyRange, successor } from '../state-machine/keys.ts'
import type { RowKey, RowKind, RowTypes } from '../state-machine/view.ts'
import { decodeRow, keyBytes, openRow } from './row-codec.ts'
import { assertAscending, type Database, type DatabaseSnapshot } from './state-rows.ts'

const READ_AHEAD_BYTES = 64 * 1024

export interface CursorRange {
  /** All rows of the kind in the bucket. */
  readonly all: KeyRange
  /** Inclusive. */
  readonly first: Buffer
  readonly end: Buffer
  readonly snapshot: DatabaseSnapshot
}

export class RowCursor<K extends RowKind> {
  readonly #iterator: ReturnType<typeof iterate>
  readonly #start: string
  #bytes: Buffer = Buffer.alloc(0)
  #value: Buffer = Buffer.alloc(0)
  #name: string | null = null

  private constructor(db: Database, range: CursorRange) {
    this.#start = range.all.start
    this.#iterator = iterate(db, range)
  }

  /** On the first row. */
  static async open<K extends RowKind>(db: Database, range: CursorRange): Promise<RowCursor<K>> {
    const cursor = new RowCursor<K>(db, range)
    await cursor.next()
    return cursor
  }

  /** The object key of the row it stands on; null behind the last row. */
  get name(): string | null {
    return this.#name
  }

  /** What it stands on. Throws RowDamagedError. */
  get row(): RowTypes[K] {
    const key: RowKey<K> = this.#bytes.toString('utf8')
    return decodeRow(key, this.#value)
  }

  async next(): Promise<void> {
    const entry = await this.#iterator.next()
    if (entry === undefined) {
      this.#name = null
      return
    }
    const [bytes, value] = entry
    assertAscending(this.#bytes, bytes)
    ;[this.#bytes, this.#value] = [bytes, value]
    const name = bytes.toString('utf8').slice(this.#start.length)
    const end = name.indexOf('\u0000')
    this.#name = end === -1 ? name : name.slice(0, end)
  }

  /** Over what begins with `prefix`, if it stands on such a row. Throws RowDamagedError. */
  async skip(prefix: string): Promise<void> {
    if (this.#name?.startsWith(prefix) !== true) return
    openRow(this.#bytes, this.#value)
    this.#iterator.seek(keyBytes(successor(this.#start + prefix)))
    await this.next()
  }

  close(): Promise<void> {
    return this.#iterator.close()
  }
}

/** Declared bounds hold for seek() as well: a target beyond them ends the walk. */
function iterate(db: Database, { first, end, snapshot }: CursorRange) {
  return db.iterator({ gte: first, lt: end, highWaterMarkBytes: READ_AHEAD_BYTES, snapshot })
}
