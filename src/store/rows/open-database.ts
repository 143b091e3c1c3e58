/** Opens a database of the state, sealed where there is a cipher. */
import type { MetadataCipher } from '../../../cluster/index.ts'
import { type Database, type DatabaseOptions, LevelDatabase } from './row-database.ts'
import { SealedDatabase } from './sealed-database.ts'

/** `cipher` null: the rows lie in LevelDB as they are. Rejects with the error of LevelDB. */
export async function openDatabase(
  location: string,
  options: DatabaseOptions,
  cipher: MetadataCipher | null,
): Promise<Database> {
  const db =
    cipher === null ? new LevelDatabase(location, options) : new SealedDatabase(location, options, cipher)
  await db.open()
  return db
}
