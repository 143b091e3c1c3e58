/**
 * A walk over rows that are named by an object key, one at a time, with steps over all rows of a common prefix.
 *
 * Owns: the iterator, its order, what was read ahead of the walk. Knows nothing of: lines of a listing.
 * Rules: every row that it visits must ascend; only rows that a caller takes are verified and read. Rows that are stepped over
 * are read where that costs less than a seek, and never more than a few of them for each step. A step to a row that was read already waits for nothing.
 */
import { comesBefore } from '../../state-machine/base/key-order.ts'
import { type KeyRange, narrow, type RowKey, successor } from '../../state-machine/base/row-key.ts'
import { ReadPace } from './read-pace.ts'
import { keyBytes, openNamed } from './row-codec.ts'
import { type Database, type DatabaseSnapshot, outOfPlace } from './state-rows.ts'
import { textSum } from './text-sum.ts'

const READ_AHEAD_BYTES = 512 * 1024

export interface CursorRange<R extends object = object> {
  /** All rows of the kind in the bucket. */
  readonly all: KeyRange<R>
  /** Object keys without this prefix are not part of the walk. */
  readonly prefix: string
  /** Inclusive; may lie before those that begin with `prefix`. */
  readonly first: string
  /** How many rows the cursor may visit. */
  readonly lines: number
  /** Absent: the walk is over the rows as they are now. */
  readonly snapshot?: DatabaseSnapshot
}

/** What a caller takes of a row: `name` is the object key in its row key. Throws RowDamagedError. */
export type ReadRow<R extends object, L> = (key: RowKey<R>, name: string, payload: Buffer) => L

/** A key as text and its row as it is stored. */
type Entry = readonly [key: string, value: Buffer]

const NOWHERE: Entry = ['', Buffer.alloc(0)]

export class RowCursor<R extends object, L> {
  readonly #iterator: ReturnType<typeof iterate>
  readonly #start: string
  /** Checksum of the part that all keys begin with. */
  readonly #startSum: number
  readonly #readRow: ReadRow<R, L>
  readonly #pace: ReadPace
  /** The last read, and the position of the cursor in it. */
  #read: readonly Entry[] = []
  #at = 0
  /** Rows of the last read that the cursor has visited. */
  #lines = 0
  #entry: Entry = NOWHERE
  #name: string | null = null

  private constructor(db: Database, range: CursorRange, readRow: ReadRow<R, L>) {
    this.#start = range.all.start
    this.#startSum = textSum(this.#start)
    this.#readRow = readRow
    this.#pace = new ReadPace(range.lines)
    this.#iterator = iterate(db, range)
  }

  /** On the first row. */
  static async open<R extends object, L>(
    db: Database,
    range: CursorRange<R>,
    readRow: ReadRow<R, L>,
  ): Promise<RowCursor<R, L>> {
    const cursor = new RowCursor<R, L>(db, range, readRow)
    try {
      await cursor.more()
      return cursor
    } catch (error) {
      await cursor.close()
      throw error
    }
  }

  /** The object key of the current row; null behind the last row. */
  get name(): string | null {
    return this.#name
  }

  /** What the current row holds. Throws RowDamagedError. */
  row(): L {
    const [key, value] = this.#entry
    return this.#readRow(key as RowKey<R>, this.#name ?? '', this.#verified(key, value))
  }

  /** False: `more` is to be awaited, which steps to the next row. */
  next(): boolean {
    this.#at++
    return this.#stands()
  }

  /** Steps over the rows that begin with `prefix`, if it is at one. False: as for `next`. Throws RowDamagedError. */
  skip(prefix: string): boolean {
    if (this.#name?.startsWith(prefix) !== true) return true
    const [key, value] = this.#entry
    this.#verified(key, value)
    const alike = this.#start + prefix
    do this.#at++
    while (this.#read[this.#at]?.[0].startsWith(alike) === true)
    if (this.#at >= this.#read.length) this.#iterator.seek(successor(alike))
    return this.#stands()
  }

  async more(): Promise<void> {
    if (this.#read.length > 0) this.#pace.took(this.#read.length, this.#lines)
    this.#read = await this.#iterator.nextv(this.#pace.rows)
    this.#at = 0
    this.#lines = 0
    if (!this.#stands()) this.#name = null
  }

  close(): Promise<void> {
    return this.#iterator.close()
  }

  #stands(): boolean {
    const entry = this.#read[this.#at]
    if (entry === undefined) return false
    if (!comesBefore(this.#entry[0], entry[0])) throw outOfPlace()
    this.#entry = entry
    this.#lines++
    const end = entry[0].indexOf('\u0000', this.#start.length)
    this.#name = end === -1 ? entry[0].slice(this.#start.length) : entry[0].slice(this.#start.length, end)
    return true
  }

  #verified(key: string, value: Buffer): Buffer {
    return openNamed(key, textSum(key, this.#startSum, this.#start.length), value)
  }
}

/**
 * Declared bounds hold for seek() as well: a target beyond them ends the walk. Keys come as text, at half the cost of
 * buffers; a key that is no text after damage fails the checksum of its row.
 */
function iterate(db: Database, { all, prefix, first, snapshot }: CursorRange) {
  const { start, end } = narrow(all, prefix)
  const isBehind = Buffer.compare(keyBytes(first), keyBytes(start)) > 0
  return db.iterator<string, Buffer>({
    gte: isBehind ? first : start,
    lt: end,
    keyEncoding: 'utf8',
    highWaterMarkBytes: READ_AHEAD_BYTES,
    ...(snapshot === undefined ? {} : { snapshot }),
  })
}
