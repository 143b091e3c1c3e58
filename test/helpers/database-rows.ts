/** Rows of a database as a disk or a mistake may leave them: written beside the state. */
import assert from 'node:assert/strict'
import { type Database, LevelDatabase } from '../../src/store/rows/row-database.ts'

export function putRow(db: Database, key: Buffer, value: Buffer): Promise<void> {
  return db.batch([{ type: 'put', key, value }], { sync: false })
}

export function removeRow(db: Database, key: Buffer): Promise<void> {
  return db.batch([{ type: 'del', key }], { sync: false })
}

/** For tests of how LevelDB is called. */
export function levelOf(db: Database): LevelDatabase {
  assert(db instanceof LevelDatabase, 'nothing is sealed here')
  return db
}
