/**
 * The repair rows that are due next, in memory, so that the repair engine reads them synchronously.
 *
 * Owns: a bounded window of rows per target node. Knows nothing of: who repairs, in which order.
 * Rules: a window holds only rows that are stored; it may hold fewer than are stored, and is then filled again from
 * the store before it runs dry. A row that is more urgent than one in a full window takes its place. Memory does not
 * grow with the number of copies owed.
 */
import { chunkRanges, repairTargetOf } from '../../state-machine/chunks/keys.ts'
import type { Row } from '../../state-machine/base/view.ts'
import type { KeyRange, RowKey } from '../../state-machine/base/row-key.ts'
import type { RepairRecord } from '../../state-machine/chunks/records.ts'
import { decodeRow, keyBytes } from './row-codec.ts'
import type { Database } from './row-database.ts'

const WINDOW_ROWS = 1024
const REFILL_BELOW = WINDOW_ROWS / 2

interface Window {
  rows: Map<string, RepairRecord>
  /** Nothing more is stored for this target. */
  complete: boolean
}

export class RepairWindow {
  readonly #db: Pick<Database, 'iterator'>
  readonly #windows = new Map<string, Window>()

  constructor(db: Pick<Database, 'iterator'>) {
    this.#db = db
  }

  async load(): Promise<void> {
    const { end } = chunkRanges.repairs()
    let { start } = chunkRanges.repairs()
    for (;;) {
      const [first] = await this.#stored({ start, end }, 1)
      if (first === undefined) return
      await this.#refill(first[1].target)
      start = chunkRanges.repairsOf(first[1].target).end
    }
  }

  /** In the order of their keys: those with the fewest copies first. */
  take(target: string, limit: number): readonly RepairRecord[] {
    const rows = [...(this.#windows.get(target)?.rows ?? [])]
    rows.sort(([one], [other]) => (one < other ? -1 : 1))
    return rows.slice(0, limit).map(([, row]) => row)
  }

  /** After the rows are durable. */
  async follow(written: ReadonlyMap<RowKey, Row | null>): Promise<void> {
    written.forEach((row, key) => {
      const target = repairTargetOf(key)
      if (target !== null) this.#change(target, key, row as RepairRecord | null)
    })
    for (const [target, window] of this.#windows) {
      if (!window.complete && window.rows.size < REFILL_BELOW) await this.#refill(target)
      if (window.complete && window.rows.size === 0) this.#windows.delete(target)
    }
  }

  #change(target: string, key: string, row: RepairRecord | null): void {
    const window = this.#windows.get(target) ?? { rows: new Map<string, RepairRecord>(), complete: true }
    this.#windows.set(target, window)
    if (row === null) {
      window.rows.delete(key)
    } else if (window.complete && window.rows.size < WINDOW_ROWS) {
      window.rows.set(key, row)
    } else {
      window.complete = false
      displaceLast(window.rows, key, row)
    }
  }

  async #refill(target: string): Promise<void> {
    const stored = await this.#stored(chunkRanges.repairsOf(target), WINDOW_ROWS)
    this.#windows.set(target, { rows: new Map(stored), complete: stored.length < WINDOW_ROWS })
  }

  async #stored(range: KeyRange, limit: number): Promise<[string, RepairRecord][]> {
    const rows: [string, RepairRecord][] = []
    const iterator = this.#db.iterator({ gte: keyBytes(range.start), lt: keyBytes(range.end), limit })
    for await (const [bytes, value] of iterator) {
      const key: RowKey<RepairRecord> = bytes.toString('utf8')
      rows.push([key, decodeRow(key, value)])
    }
    return rows
  }
}

/** A row outside a full window is less urgent than every row in it; otherwise urgent rows would wait for the rest. */
function displaceLast(rows: Map<string, RepairRecord>, key: string, row: RepairRecord): void {
  let last = key
  for (const other of rows.keys()) if (other > last) last = other
  if (last === key) return
  rows.set(key, row)
  if (rows.size > WINDOW_ROWS) rows.delete(last)
}
