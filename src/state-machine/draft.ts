/**
 * The work of one command: reads see its own writes, and all of it counts or none.
 *
 * Owns: the overlay over the stored rows while a command is decided. Knows nothing of: what the rows mean.
 * Rule: a refused command drops its draft.
 */
import type { Row, RowKey, RowKind, RowTypes, View, Write } from './view.ts'

export class Draft implements View {
  readonly #below: View
  readonly #changed = new Map<RowKey, Row | null>()

  constructor(below: View) {
    this.#below = below
  }

  get<K extends RowKind>(key: RowKey<K>): RowTypes[K] | undefined {
    const row = this.#changed.get(key)
    if (row === undefined) return this.#below.get(key)
    return row === null ? undefined : (row as RowTypes[K])
  }

  put<K extends RowKind>(key: RowKey<K>, row: RowTypes[K]): void {
    this.#changed.set(key, row)
  }

  remove(key: RowKey): void {
    this.#changed.set(key, null)
  }

  writes(): readonly Write[] {
    return Array.from(this.#changed, ([key, row]) => ({ key, row }))
  }
}
