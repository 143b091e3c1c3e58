/**
 * The StateReader port over the current state of this node.
 *
 * Knows nothing of: whether the rows that it sees are fresh; callers pass a read barrier.
 * Rule: each read takes the state from the handle again, because an install replaces it.
 */
import type { KeyRange, RowKey } from '../../state-machine/base/row-key.ts'
import type { View } from '../../state-machine/base/view.ts'
import type { OpenState, StateHandle } from '../rows/open-state.ts'
import { readPage } from './row-page.ts'
import type { PageQuery, RowPage, StateReader } from './state-reader.ts'

export class LevelStateReader implements StateReader {
  readonly #handle: StateHandle

  constructor(handle: StateHandle) {
    this.#handle = handle
  }

  get usable(): OpenState | null {
    return this.#handle.usable
  }

  get<R extends object>(key: RowKey<R>): R | undefined {
    return this.#handle.read((state) => state.read(key))
  }

  page<R extends object>(range: KeyRange<R>, query: PageQuery): Promise<RowPage<R>> {
    return this.lease((state) => readPage(state, range, query))
  }

  cut<T>(read: (view: View) => T): T {
    return this.#handle.read((state) => state.cut(read))
  }

  lease<T>(work: (state: OpenState) => Promise<T>): Promise<T> {
    return this.#handle.lease(work)
  }
}
