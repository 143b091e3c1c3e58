/**
 * A walk over rows that are named by an object key, one at a time, with steps over all rows of a common prefix.
 *
 * Owns: the iterator, its order, what was read ahead of the walk. Knows nothing of: lines of a listing.
 * Rules: every row that it visits must ascend; only rows that a caller takes are verified and read. Rows that are stepped over
 * are read where that costs less than a seek, and never more than a few of them for each step. A step to a row that was read already waits for nothing,
 * nor does one over a gap that is known: of the row behind it the walk has the name alone.
 */
import assert from 'node:assert/strict'
import { comesBefore } from '../../state-machine/base/key-order.ts'
import { type KeyRange, narrow, type RowKey, successor } from '../../state-machine/base/row-key.ts'
import type { Gap, GapWalk } from './known-gaps.ts'
import { ReadPace } from './read-pace.ts'
import { keyBytes, openNamed } from './row-codec.ts'
import { type Database, type DatabaseSnapshot, outOfPlace } from './state-rows.ts'
import { textSum } from './text-sum.ts'

const READ_AHEAD_BYTES = 512 * 1024
/** Of a closed iterator. */
const HELD_ROWS_MAX = 64

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
  /** Started at the moment that the cursor walks over: that of the snapshot, or that of this call. */
  readonly gaps: GapWalk
}

/** What a caller takes of a row: `name` is the object key in its row key. Throws RowDamagedError. */
export type ReadRow<R extends object, L> = (key: RowKey<R>, name: string, payload: Buffer) => L

/** A key as text and its row as it is stored. */
type Entry = readonly [key: string, value: Buffer]

/** In place of a row that was not read. */
const UNREAD = Buffer.alloc(0)
const NOWHERE: Entry = ['', UNREAD]

export class RowCursor<R extends object, L> {
  readonly #iterator: ReturnType<typeof iterate>
  readonly #start: string
  /** Checksum of the part that all keys begin with. */
  readonly #startSum: number
  readonly #readRow: ReadRow<R, L>
  readonly #pace: ReadPace
  readonly #gaps: GapWalk
  readonly #end: string
  /** The last read, and the position of the cursor in it. */
  #read: readonly Entry[] = []
  #at = 0
  /** Rows of the last read that the cursor has visited. */
  #lines = 0
  #entry: Entry = NOWHERE
  #name: string | null = null
  /** Where the step over a common prefix began that is not done yet. */
  #steppedFrom: string | null = null
  /** In front of the current row, which is not verified yet. */
  #gap: Gap | null = null

  private constructor(db: Database, range: CursorRange, readRow: ReadRow<R, L>) {
    this.#start = range.all.start
    this.#startSum = textSum(this.#start)
    this.#readRow = readRow
    this.#pace = new ReadPace(range.lines)
    this.#gaps = range.gaps
    this.#end = narrow(range.all, range.prefix).end
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

  /** What the current row holds; never after a step for which its name was enough. Throws RowDamagedError. */
  row(): L {
    const [key, value] = this.#entry
    assert(value !== UNREAD, 'a row is taken that a step needed the name of')
    return this.#readRow(key as RowKey<R>, this.#name ?? '', this.#verified(key, value))
  }

  /** False: `more` is to be awaited, which steps to the next row. */
  next(): boolean {
    this.#at++
    return this.#stands()
  }

  /**
   * Steps over the rows that begin with `prefix`, if it is at one. `isNameEnough`: whether the caller takes nothing but the name of the row
   * behind them, and steps on with this function. False: as for `next`. Throws RowDamagedError.
   */
  skip(prefix: string, isNameEnough: (name: string) => boolean): boolean {
    if (this.#name?.startsWith(prefix) !== true) return true
    const [key, value] = this.#entry
    if (value !== UNREAD) this.#verified(key, value)
    const alike = this.#start + prefix
    do this.#at++
    while (this.#read[this.#at]?.[0].startsWith(alike) === true)
    const behind = successor(alike)
    if (this.#at >= this.#read.length) {
      if (this.#leaps(behind, isNameEnough)) return true
      this.#iterator.seek(behind)
    }
    this.#steppedFrom = behind
    return this.#stands()
  }

  /** To the row behind a gap that is known, or to the end. */
  #leaps(behind: string, isNameEnough: (name: string) => boolean): boolean {
    const key = this.#gaps.next(behind)
    if (key === null) return false
    const name = comesBefore(key, this.#end) ? this.#nameIn(key) : null
    if (name !== null && !isNameEnough(name)) return false
    this.#entry = [key, UNREAD]
    this.#name = name
    this.#pace.passed()
    return true
  }

  async more(): Promise<void> {
    if (this.#read.length > 0) this.#pace.took(this.#read.length, this.#lines)
    this.#read = await this.#iterator.nextv(this.#pace.rows)
    this.#at = 0
    this.#lines = 0
    if (!this.#stands()) this.#name = null
  }

  async close(): Promise<void> {
    await this.#release()
    await this.#iterator.close()
  }

  /** The binding keeps the rows of its last read until V8 collects the closed iterator, which may be a thousand pages later: a short read takes their place. */
  async #release(): Promise<void> {
    if (this.#read.length <= HELD_ROWS_MAX) return
    try {
      this.#iterator.seek(this.#entry[0])
      await this.#iterator.nextv(1)
    } catch {
      // What was wanted of the rows is read already.
    }
  }

  #stands(): boolean {
    const entry = this.#read[this.#at]
    if (entry === undefined) return false
    if (!comesBefore(this.#entry[0], entry[0])) throw outOfPlace()
    this.#gap = this.#steppedFrom === null ? null : { from: this.#steppedFrom, to: entry[0] }
    this.#steppedFrom = null
    this.#entry = entry
    this.#lines++
    this.#name = this.#nameIn(entry[0])
    return true
  }

  #nameIn(key: string): string {
    const end = key.indexOf('\u0000', this.#start.length)
    return end === -1 ? key.slice(this.#start.length) : key.slice(this.#start.length, end)
  }

  #verified(key: string, value: Buffer): Buffer {
    const payload = openNamed(key, textSum(key, this.#startSum, this.#start.length), value)
    if (this.#gap !== null) this.#gaps.found(this.#gap)
    this.#gap = null
    return payload
  }
}

/**
 * Declared bounds hold for seek() as well: a target beyond them ends the walk. Keys come as text, at half the cost of
 * buffers; a key that is no text after damage fails the checksum of its row.
 */
function iterate(db: Database, { all, prefix, first, snapshot }: CursorRange) {
  const { start, end } = narrow(all, prefix)
  const isBehind = Buffer.compare(keyBytes(first), keyBytes(start)) > 0
  return db.texts({
    gte: isBehind ? first : start,
    lt: end,
    highWaterMarkBytes: READ_AHEAD_BYTES,
    ...(snapshot === undefined ? {} : { snapshot }),
  })
}
