/**
 * The state as the workers and operations of membership read it, over the rows of a simulated disk.
 *
 * Owns: the way from keys to rows. Rule: each question takes the rows anew, for a snapshot may have replaced them.
 */
import { operationKeys } from '../../../src/state-machine/operations/keys.ts'
import { chunkRanges } from '../../../src/state-machine/chunks/keys.ts'
import type { View } from '../../../src/state-machine/base/view.ts'
import type { ChunkRecord, RepairRecord } from '../../../src/state-machine/chunks/records.ts'
import type { OperationRecord } from '../../../src/state-machine/operations/records.ts'
import { unfinishedOperations } from '../../../src/state-machine/operations/operations.ts'
import type { Page } from '../../../src/store/reads/state-reader.ts'
import { rowIn, viewOf } from './object-rules.ts'
import type { SimRows } from './sim-rows.ts'

export class MemberReader {
  readonly #rows: () => SimRows
  readonly view: View = { get: (key) => viewOf(this.#rows()).get(key) }

  constructor(rows: () => SimRows) {
    this.#rows = rows
  }

  operation(id: string): OperationRecord | undefined {
    return this.view.get(operationKeys.operation(id))
  }

  unfinishedOperations(): readonly OperationRecord[] {
    return unfinishedOperations(this.view)
  }

  async chunks(after: string, limit: number): Promise<Page<ChunkRecord>> {
    const found = this.#under(chunkRanges.chunks()).filter(([key]) => key > after)
    const page = found.slice(0, limit)
    const next = found.length > limit ? (page.at(-1)?.[0] ?? null) : null
    return { items: page.map(([key, value]) => rowIn(key, value) as ChunkRecord), next }
  }

  tasksOf(node: string): readonly RepairRecord[] {
    return this.#under(chunkRanges.repairsOf(node)).map(([key, value]) => rowIn(key, value) as RepairRecord)
  }

  #under({ start, end }: { readonly start: string; readonly end: string }) {
    return this.#rows()
      .entries()
      .filter(([key]) => key >= start && key < end)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
  }
}
