/**
 * A walk over the rows of a sealed database in the order of their keys, page by page.
 *
 * Owns: the bounds, the order within a page. Knows nothing of: LevelDB, ciphers.
 * Rules: it walks over one moment. Of a page that it enters it opens every row: their order is not known before. Memory: one page.
 */
import type { RowIterator } from './row-database.ts'
import type { Page, PageDirectory } from './page-directory.ts'
import type { OpenedRow } from './sealed-rows.ts'

/** Those of LevelDB that the state uses. Bounds may be text. */
export interface WalkOptions {
  readonly gt?: Buffer | string
  readonly gte?: Buffer | string
  readonly lt?: Buffer | string
  readonly lte?: Buffer | string
  readonly reverse?: boolean
  readonly limit?: number
}

export interface WalkedMoment {
  readonly directory: PageDirectory
  /** In any order. */
  readonly rowsOf: (page: Page) => Promise<readonly OpenedRow[]>
  /** Idempotent. */
  readonly end: () => Promise<void>
}

export class SealedIterator<K extends Buffer | string> implements RowIterator<K> {
  readonly #moment: WalkedMoment
  readonly #keyOf: (key: Buffer) => K
  readonly #isReverse: boolean
  /** Inclusive. */
  #low: Buffer
  /** Exclusive; null: none. */
  readonly #high: Buffer | null
  #left: number
  /** The next page to enter. */
  #page: Page | null
  #entered: { readonly page: Page; readonly rows: readonly OpenedRow[] } | null = null
  /** Rows of the page that was entered, from `#at` on. */
  #rows: readonly OpenedRow[] = []
  #at = 0

  constructor(moment: WalkedMoment, options: WalkOptions, keyOf: (key: Buffer) => K) {
    this.#moment = moment
    this.#keyOf = keyOf
    this.#isReverse = options.reverse === true
    const { limit = -1 } = options
    this.#left = limit < 0 ? Infinity : limit
    this.#low = lowOf(options)
    this.#high = highOf(options)
    this.#page = this.#startPage()
  }

  /** Fewer than `count` only at the end. */
  async nextv(count: number): Promise<[K, Buffer][]> {
    const entries: [K, Buffer][] = []
    while (entries.length < count && this.#left > 0) {
      const row = this.#rows[this.#at]
      if (row === undefined) {
        if (this.#page === null) break
        await this.#enter(this.#page)
        continue
      }
      this.#at++
      this.#left--
      entries.push([this.#keyOf(row.key), row.value])
    }
    return entries
  }

  async #next(): Promise<[K, Buffer] | undefined> {
    const [entry] = await this.nextv(1)
    return entry
  }

  async all(): Promise<[K, Buffer][]> {
    try {
      return await this.nextv(Infinity)
    } finally {
      await this.close()
    }
  }

  /** To the first row that is not before `target`. For walks that ascend; beyond their bounds they end. */
  seek(target: K): void {
    const key = bytesOf(target)
    this.#rows = []
    this.#at = 0
    this.#page = null
    if (Buffer.compare(key, this.#low) < 0 || this.#isBehind(key)) return
    this.#low = key
    this.#page = this.#moment.directory.pageOf(key)
  }

  close(): Promise<void> {
    return this.#moment.end()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<[K, Buffer]> {
    try {
      for (let entry = await this.#next(); entry !== undefined; entry = await this.#next()) yield entry
    } finally {
      await this.close()
    }
  }

  #startPage(): Page | null {
    const { directory } = this.#moment
    if (this.#high !== null && Buffer.compare(this.#low, this.#high) >= 0) return null
    if (!this.#isReverse) return directory.pageOf(this.#low)
    return this.#high === null ? directory.last : directory.pageOf(this.#high)
  }

  async #enter(page: Page): Promise<void> {
    const rows = this.#entered?.page === page ? this.#entered.rows : await this.#sorted(page)
    this.#entered = { page, rows }
    this.#page = this.#following(page)
    const first = firstFrom(rows, this.#low)
    const end = this.#high === null ? rows.length : firstFrom(rows, this.#high)
    const inside = rows.slice(first, Math.max(first, end))
    this.#rows = this.#isReverse ? inside.toReversed() : inside
    this.#at = 0
  }

  async #sorted(page: Page): Promise<readonly OpenedRow[]> {
    const rows = (await this.#moment.rowsOf(page)).map((row) => ({ row, text: row.key.toString('latin1') }))
    // Of different keys, and as latin1 in the order of their bytes.
    rows.sort((one, other) => (one.text < other.text ? -1 : 1))
    return rows.map(({ row }) => row)
  }

  #following(page: Page): Page | null {
    const { directory } = this.#moment
    if (this.#isReverse) return Buffer.compare(page.first, this.#low) <= 0 ? null : directory.before(page)
    const next = directory.after(page)
    return next === null || this.#isBehind(next.first) ? null : next
  }

  #isBehind(key: Buffer): boolean {
    return this.#high !== null && Buffer.compare(key, this.#high) >= 0
  }
}

/** A key that follows another directly is that with a NUL more. */
function lowOf({ gt, gte }: WalkOptions): Buffer {
  if (gt !== undefined) return behind(gt)
  return gte === undefined ? Buffer.alloc(0) : bytesOf(gte)
}

function highOf({ lt, lte }: WalkOptions): Buffer | null {
  if (lte !== undefined) return behind(lte)
  return lt === undefined ? null : bytesOf(lt)
}

function behind(key: Buffer | string): Buffer {
  return Buffer.concat([bytesOf(key), Buffer.alloc(1)])
}

function bytesOf(key: Buffer | string): Buffer {
  return typeof key === 'string' ? Buffer.from(key, 'utf8') : key
}

function firstFrom(rows: readonly OpenedRow[], key: Buffer): number {
  let [low, high] = [0, rows.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (Buffer.compare((rows[middle] as OpenedRow).key, key) < 0) low = middle + 1
    else high = middle
  }
  return low
}
