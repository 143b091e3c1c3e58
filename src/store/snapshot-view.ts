/**
 * Single rows as they were at one moment, for decisions that need more than one of them.
 *
 * Owns: reading through a snapshot. Knows nothing of: who closes it; that is whoever took it.
 */
import type { RowKey, RowKind, View } from '../state-machine/view.ts'
import { decodeRow, keyBytes } from './row-codec.ts'
import type { Database, DatabaseSnapshot } from './state-rows.ts'

export function viewAt(db: Database, snapshot: DatabaseSnapshot): View {
  return {
    get: <K extends RowKind>(key: RowKey<K>) => {
      const value = db.getSync(keyBytes(key), { snapshot })
      return value === undefined ? undefined : decodeRow(key, value)
    },
  }
}
