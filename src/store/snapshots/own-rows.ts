/**
 * The rows of the state that an install replaces, cut into ranges that the source compares with its own.
 *
 * Owns: where a range ends. Knows nothing of: what the source holds, where reused rows go. Rules: a range begins after the last key that was
 * reached and ends at a key of this state, so an insertion on either side moves no other range; ranges grow while they are equal
 * and shrink where they differ, so the transfer is in proportion to the changes. A damaged row ends the reuse, never the
 * install. Memory: one range and one read.
 */
import { hash } from 'node:crypto'
import { StateDamagedError } from '../../../cluster/index.ts'
import { framedBytes, frameRow, type StoredRow } from '../rows/row-block.ts'
import { type Database, scanRows } from '../rows/state-rows.ts'

/** Size of one range, or one row. A changed row costs the transfer of at most its range. Bytes. */
const RANGE_BYTES_MIN = 8 * 1024
const RANGE_BYTES_MAX = 64 * 1024
const SHRINK = 4

export interface OwnRange {
  readonly through: Buffer
  /** Of `rows`. */
  readonly digest: Buffer
  /** Rows in the form of a block, at most as large as one, or one row. */
  readonly rows: Buffer
}

export class OwnRows {
  readonly #scan: AsyncGenerator<readonly StoredRow[]>
  /** Read and not yet passed, ascending. */
  #rows: StoredRow[] = []
  #bytes = 0
  #isOver = false
  #target = RANGE_BYTES_MAX

  constructor(db: Database) {
    this.#scan = scanRows(db, { after: new Uint8Array(), through: null })
  }

  /** The next range after a key, which rises from call to call; null when there are no rows, or none that can be read. */
  async after(key: Uint8Array): Promise<OwnRange | null> {
    this.#pass(key)
    while (this.#bytes < this.#target && !this.#isOver) {
      await this.#read()
      this.#pass(key)
    }
    const taken: Buffer[] = []
    let bytes = 0
    let through: Buffer = Buffer.alloc(0)
    for (const row of this.#rows) {
      const size = framedBytes(row.key, row.value)
      if (taken.length > 0 && bytes + size > this.#target) break
      bytes += size
      through = row.key
      taken.push(frameRow(row.key, row.value))
    }
    if (taken.length === 0) return null
    const rows = Buffer.concat(taken)
    return { through, digest: hash('sha256', rows, 'buffer'), rows }
  }

  /** Whether the source had the range before. */
  adapt(isSame: boolean): void {
    const target = isSame ? this.#target * 2 : this.#target / SHRINK
    this.#target = Math.min(RANGE_BYTES_MAX, Math.max(RANGE_BYTES_MIN, target))
  }

  async close(): Promise<void> {
    this.#isOver = true
    await this.#scan.return(undefined)
  }

  async #read(): Promise<void> {
    try {
      const { value, done } = await this.#scan.next()
      if (done === true) this.#isOver = true
      else for (const row of value) this.#add(row)
    } catch (error) {
      if (!(error instanceof StateDamagedError)) throw error
      this.#isOver = true
    }
  }

  #add(row: StoredRow): void {
    this.#rows.push(row)
    this.#bytes += framedBytes(row.key, row.value)
  }

  #pass(key: Uint8Array): void {
    const first = this.#rows.findIndex((row) => Buffer.compare(row.key, key) > 0)
    const passed = this.#rows.splice(0, first === -1 ? this.#rows.length : first)
    for (const row of passed) this.#bytes -= framedBytes(row.key, row.value)
  }
}
