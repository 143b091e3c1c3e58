/**
 * The state that a state and the entries after it would result in: in memory, over a LevelDB that is only read.
 *
 * Owns: the rows that would change, the checksum that would follow, a walk over the resulting rows. Knows nothing of: why.
 * Rule: nothing is ever written; the code that decides is that of a real apply.
 */
import type { View } from '../../state-machine/base/view.ts'
import type { RowKey } from '../../state-machine/base/row-key.ts'
import type { ApplyBatch } from '../../../cluster/index.ts'
import { applyEntry } from './apply-entry.ts'
import { BatchView, type StoredRows } from './batch-view.ts'
import type { OpenState } from '../rows/open-state.ts'
import { decodeRow, keyBytes } from '../rows/row-codec.ts'
import { rowHash, type RowSum } from '../rows/row-sum.ts'
import { ALL_ROWS, isStateKey, scanRows } from '../rows/state-rows.ts'

export interface RehearsedRow {
  readonly key: RowKey
  readonly value: Buffer
}

export class RehearsedState implements StoredRows, View {
  readonly #state: OpenState
  readonly #sum: RowSum
  /** By key; null where the row would be removed. Bounded by the log after the state. */
  readonly #changed = new Map<string, Buffer | null>()

  /** `sum`: of the rows on the disk; this object owns it from here on. */
  constructor(state: OpenState, sum: RowSum) {
    this.#state = state
    this.#sum = sum
  }

  async apply({ entries }: ApplyBatch): Promise<readonly (readonly Uint8Array[])[]> {
    const view = new BatchView(this)
    const replies = entries.map((entry) => [...applyEntry(view, entry)])
    for (const { key, before, after } of view.changes()) {
      if (before !== null) this.#sum.subtract(rowHash(key, before))
      if (after !== null) this.#sum.add(rowHash(key, after))
      this.#changed.set(key.toString('utf8'), after)
    }
    return replies
  }

  checksum(): Uint8Array {
    return this.#sum.bytes()
  }

  get<R extends object>(key: RowKey<R>): R | undefined {
    return this.readStored(key)?.row
  }

  readStored<R extends object>(key: RowKey<R>): { readonly row: R; readonly value: Buffer } | undefined {
    const value = this.#changed.get(key)
    if (value === undefined) return this.#state.readStored(key)
    return value === null ? undefined : { row: decodeRow(key, value), value }
  }

  readVerified(key: Buffer): Buffer | undefined {
    const value = this.#changed.get(key.toString('utf8'))
    return value === undefined ? this.#state.readVerified(key) : (value ?? undefined)
  }

  /** All rows in the order of their keys. Throws StateDamagedError. */
  async *rows(): AsyncGenerator<RehearsedRow> {
    const changed = [...this.#changed.keys()].map((key) => ({ key, bytes: keyBytes(key) }))
    changed.sort((one, other) => Buffer.compare(one.bytes, other.bytes))
    let at = 0
    const upTo = (bytes: Uint8Array | null): readonly RehearsedRow[] => {
      const rows: RehearsedRow[] = []
      for (let next = changed[at]; next !== undefined; next = changed[++at]) {
        if (bytes !== null && Buffer.compare(next.bytes, bytes) >= 0) break
        rows.push(...this.#changedRow(next.key))
      }
      return rows
    }
    for await (const stored of scanRows(this.#state.db, ALL_ROWS)) {
      for (const { key: bytes, value } of stored) {
        yield* upTo(bytes)
        const key = Buffer.from(bytes).toString('utf8')
        if (!this.#changed.has(key)) yield { key, value: Buffer.from(value) }
      }
    }
    yield* upTo(null)
  }

  #changedRow(key: string): readonly RehearsedRow[] {
    const value = this.#changed.get(key) ?? null
    return value === null || !isStateKey(keyBytes(key)) ? [] : [{ key, value }]
  }
}
