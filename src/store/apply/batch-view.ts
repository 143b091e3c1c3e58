/**
 * The view of the commands of one apply batch: the stored rows, overlaid with the changes of the batch so far.
 *
 * Owns: the overlay of a batch, and the changes that result from it. Knows nothing of: what commands mean.
 * Rule: it lives for one batch, during which nothing else writes; the row that a change replaces was read from disk and verified.
 */
import type { Row, View, Write } from '../../state-machine/base/view.ts'
import type { RowKey } from '../../state-machine/base/row-key.ts'
import type { OpenState } from '../rows/open-state.ts'
import { encodeRow, keyBytes } from '../rows/row-codec.ts'

interface Stored {
  readonly row: Row
  readonly value: Buffer
}

/** Values as they lie on disk; null where there is no row. */
export interface Change {
  readonly key: Buffer
  readonly before: Buffer | null
  readonly after: Buffer | null
}

/** The reads of a state that a batch needs. */
export type StoredRows = Pick<OpenState, 'readStored' | 'readVerified'>

export class BatchView implements View {
  readonly #state: StoredRows
  /** Rows that were read, null where there is none: every command reads the bucket and tenant rows. */
  readonly #read = new Map<RowKey, Stored | null>()
  readonly #written = new Map<RowKey, Row | null>()
  #touched = 0

  constructor(state: StoredRows) {
    this.#state = state
  }

  get<R extends object>(key: RowKey<R>): R | undefined {
    this.#touched++
    const known = this.#written.get(key)
    if (known !== undefined) return known === null ? undefined : (known as R)
    return this.#fromStore(key)
  }

  write(writes: readonly Write[]): void {
    this.#touched += writes.length
    for (const { key, row } of writes) this.#written.set(key, row)
  }

  /** Number of reads and writes so far: how much work the batch has been. */
  get touched(): number {
    return this.#touched
  }

  get written(): ReadonlyMap<RowKey, Row | null> {
    return this.#written
  }

  /** As `changeOf`, of all that was written. */
  *changes(): Generator<Change> {
    for (const [name, row] of this.#written) yield this.changeOf(name, row)
  }

  /** `row`: as it was written last. Reads a row that is replaced but that no command has read. Throws StateDamagedError. */
  changeOf(name: RowKey, row: Row | null): Change {
    const key = keyBytes(name)
    const known = this.#read.get(name)
    const before = known === undefined ? this.#state.readVerified(key) : known?.value
    return { key, before: before ?? null, after: row === null ? null : encodeRow(key, row) }
  }

  #fromStore<R extends object>(key: RowKey<R>): R | undefined {
    const memo = this.#read.get(key)
    if (memo !== undefined) return memo === null ? undefined : (memo.row as R)
    const stored = this.#state.readStored(key)
    this.#read.set(key, stored ?? null)
    return stored?.row
  }
}
