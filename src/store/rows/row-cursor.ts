/**
 * A walk over rows that are named by an object key, one at a time, with steps over all rows of a common prefix.
 *
 * Owns: the iterator, its order, what was read ahead of the walk. Knows nothing of: lines of a listing.
 * Rules: every row that it visits must ascend; only rows that a caller takes are verified and decoded. Rows that are stepped over
 * are read where that costs less than a seek, and never more than a few of them for each step.
 */
import { type KeyRange, narrow, type RowKey, successor } from '../../state-machine/base/row-key.ts'
import { ReadPace } from './read-pace.ts'
import { decodeRow, keyBytes, openRow } from './row-codec.ts'
import { assertAscending, type Database, type DatabaseSnapshot } from './state-rows.ts'

const READ_AHEAD_BYTES = 256 * 1024

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

/** A key as text and its row as it is stored. */
type Entry = readonly [key: string, value: Buffer]

const NOWHERE: Entry = ['', Buffer.alloc(0)]

export class RowCursor<R extends object> {
  readonly #iterator: ReturnType<typeof iterate>
  readonly #start: string
  readonly #pace: ReadPace
  /** The last read, and the position of the cursor in it. */
  #read: readonly Entry[] = []
  #at = 0
  /** Rows of the last read that the cursor has visited. */
  #lines = 0
  #bytes: Buffer = Buffer.alloc(0)
  #entry: Entry = NOWHERE
  #name: string | null = null

  private constructor(db: Database, range: CursorRange) {
    this.#start = range.all.start
    this.#pace = new ReadPace(range.lines)
    this.#iterator = iterate(db, range)
  }

  /** On the first row. */
  static async open<R extends object>(db: Database, range: CursorRange<R>): Promise<RowCursor<R>> {
    const cursor = new RowCursor<R>(db, range)
    try {
      await cursor.next()
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

  /** The current row. Throws RowDamagedError. */
  get row(): R {
    const [key, value] = this.#entry
    return decodeRow(key as RowKey<R>, value)
  }

  async next(): Promise<void> {
    this.#at++
    if (this.#at >= this.#read.length) await this.#readOn()
    this.#stand()
  }

  /** Steps over the rows that begin with `prefix`, if it is at one. Throws RowDamagedError. */
  async skip(prefix: string): Promise<void> {
    if (this.#name?.startsWith(prefix) !== true) return
    openRow(this.#bytes, this.#entry[1])
    const alike = this.#start + prefix
    do this.#at++
    while (this.#read[this.#at]?.[0].startsWith(alike) === true)
    if (this.#at >= this.#read.length) {
      this.#iterator.seek(successor(alike))
      await this.#readOn()
    }
    this.#stand()
  }

  close(): Promise<void> {
    return this.#iterator.close()
  }

  async #readOn(): Promise<void> {
    if (this.#read.length > 0) this.#pace.took(this.#read.length, this.#lines)
    this.#read = await this.#iterator.nextv(this.#pace.rows)
    this.#at = 0
    this.#lines = 0
  }

  #stand(): void {
    const entry = this.#read[this.#at]
    if (entry === undefined) {
      this.#name = null
      return
    }
    const bytes = keyBytes(entry[0])
    assertAscending(this.#bytes, bytes)
    ;[this.#bytes, this.#entry] = [bytes, entry]
    this.#lines++
    const name = entry[0].slice(this.#start.length)
    const end = name.indexOf('\u0000')
    this.#name = end === -1 ? name : name.slice(0, end)
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
