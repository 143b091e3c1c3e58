/** Single rows of one consistent cut, for questions whose answers must fit each other. */
import type { View } from '../../state-machine/base/view.ts'
import type { RowKey } from '../../state-machine/base/row-key.ts'
import { decodeRow, keyBytes } from './row-codec.ts'
import type { Database, DatabaseSnapshot } from './state-rows.ts'

export function cutView(db: Database, snapshot: DatabaseSnapshot): View {
  return {
    get: <R extends object>(key: RowKey<R>) => {
      const value = db.rowAt(keyBytes(key), snapshot)
      return value === undefined ? undefined : decodeRow(key, value)
    },
  }
}
