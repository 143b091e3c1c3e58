/** Single rows and pages of one moment, for answers whose rows must fit each other. */
import { cutView } from '../rows/cut-view.ts'
import { readPage } from './row-page.ts'
import type { RowReader, StateReader } from './state-reader.ts'

export function atOneMoment<T>(
  reader: Pick<StateReader, 'lease'>,
  work: (cut: RowReader) => Promise<T>,
): Promise<T> {
  return reader.lease(async (state) => {
    const snapshot = state.db.snapshot()
    try {
      const page: RowReader['page'] = (range, query) => readPage(state, range, { ...query, snapshot })
      return await work({ ...cutView(state.db, snapshot), page })
    } finally {
      await snapshot.close()
    }
  })
}
