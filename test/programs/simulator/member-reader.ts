/**
 * The state as the workers and operations of membership read it, over the rows of a simulated disk.
 *
 * Owns: the way from keys to rows. Rule: each read takes the rows again, because a snapshot may have replaced them.
 */
import { chunkRanges } from '../../../src/state-machine/chunks/keys.ts'
import type { KeyRange, RowKey } from '../../../src/state-machine/base/row-key.ts'
import type { RepairRecord } from '../../../src/state-machine/chunks/records.ts'
import type { PageQuery, RowPage, RowReader } from '../../../src/store/reads/state-reader.ts'
import { rowIn, viewOf } from './object-rules.ts'
import type { SimRows } from './sim-rows.ts'

export class MemberReader implements RowReader {
  readonly #rows: () => SimRows

  constructor(rows: () => SimRows) {
    this.#rows = rows
  }

  get<R extends object>(key: RowKey<R>): R | undefined {
    return viewOf(this.#rows()).get(key)
  }

  async page<R extends object>(range: KeyRange<R>, { after = '', limit }: PageQuery): Promise<RowPage<R>> {
    const found = this.#rowsIn(range).filter(([key]) => key > range.start + after)
    const page = found.slice(0, limit)
    const next = found.length > limit ? (page.at(-1)?.[0].slice(range.start.length) ?? null) : null
    return {
      items: page.map(([key, value]) => rowIn(key, value) as R),
      names: page.map(([key]) => key),
      next,
    }
  }

  tasksOf(node: string): readonly RepairRecord[] {
    return this.#rowsIn(chunkRanges.repairsOf(node)).map(([key, value]) => rowIn(key, value) as RepairRecord)
  }

  #rowsIn({ start, end }: { readonly start: string; readonly end: string }) {
    return this.#rows()
      .entries()
      .filter(([key]) => key >= start && key < end)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
  }
}
