/** Single rows of one consistent cut, for questions whose answers must fit each other. */
import type { RowKey, RowKind, View } from '../state-machine/view.ts'
import { decodeRow, keyBytes } from './row-codec.ts'
import type { Database, DatabaseSnapshot } from './state-rows.ts'

export function cutView(db: Database, snapshot: DatabaseSnapshot): View {
  return {
    get: <K extends RowKind>(key: RowKey<K>) => {
      const value = db.getSync(keyBytes(key), { snapshot })
      return value === undefined ? undefined : decodeRow(key, value)
    },
  }
}
