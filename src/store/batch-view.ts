/**
 * What the commands of one apply batch see: the stored rows under everything the batch has decided so far.
 *
 * Owns: the overlay of a batch. Knows nothing of: what is decided. Rule: it lives for one batch, in which nobody else writes.
 */
import type { Row, RowKey, RowKind, RowTypes, View, Write } from '../state-machine/view.ts'
import type { OpenState } from './open-state.ts'

export class BatchView implements View {
  readonly #state: OpenState
  /** Rows that were read, null where there is none: the bucket and tenant rows are asked for by every command. */
  readonly #read = new Map<RowKey, Row | null>()
  readonly #written = new Map<RowKey, Row | null>()

  constructor(state: OpenState) {
    this.#state = state
  }

  get<K extends RowKind>(key: RowKey<K>): RowTypes[K] | undefined {
    const known = this.#written.get(key)
    if (known !== undefined) return known === null ? undefined : (known as RowTypes[K])
    return this.#fromStore(key)
  }

  write(writes: readonly Write[]): void {
    for (const { key, row } of writes) this.#written.set(key, row)
  }

  get written(): ReadonlyMap<RowKey, Row | null> {
    return this.#written
  }

  #fromStore<K extends RowKind>(key: RowKey<K>): RowTypes[K] | undefined {
    const memo = this.#read.get(key)
    if (memo !== undefined) return memo === null ? undefined : (memo as RowTypes[K])
    const row = this.#state.read(key)
    this.#read.set(key, row ?? null)
    return row
  }
}
