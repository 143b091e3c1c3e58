/**
 * The writes of one command, all or nothing; its reads see its own writes.
 *
 * Owns: the overlay on the stored rows while a command is decided. Knows nothing of: what the rows mean.
 * Rule: a refused command drops its draft.
 */
import type { Row, View, Write } from './view.ts'
import type { RowKey } from './row-key.ts'

export class Draft implements View {
  readonly #below: View
  readonly #changed = new Map<RowKey, Row | null>()

  constructor(below: View) {
    this.#below = below
  }

  get<R extends object>(key: RowKey<R>): R | undefined {
    const row = this.#changed.get(key)
    if (row === undefined) return this.#below.get(key)
    return row === null ? undefined : (row as R)
  }

  put<R extends object>(key: RowKey<R>, row: R): void {
    this.#changed.set(key, row)
  }

  remove(key: RowKey): void {
    this.#changed.set(key, null)
  }

  writes(): readonly Write[] {
    return Array.from(this.#changed, ([key, row]) => ({ key, row }))
  }
}
