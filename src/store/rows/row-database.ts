/**
 * A LevelDB directory with the value files beside it.
 *
 * Owns: opening both, single rows in their full form, snapshots that keep the value files they lead to. Knows nothing of: what rows mean.
 * Rule: iterators show what LevelDB holds, which may be a pointer; a walk over rows that may be separated follows it (state-rows.ts).
 */
import { Level } from 'level'
import { ValueFiles } from '../values/value-files.ts'
import { levelSizes, memoryOfProcess } from './level-sizes.ts'
import { SeparatedRows } from './separated-rows.ts'

export type DatabaseSnapshot = ReturnType<Level<Buffer, Buffer>['snapshot']>

export class Database extends Level<Buffer, Buffer> {
  readonly rows: SeparatedRows

  /** `valueFileBytes`: absent, the usual size. */
  constructor(location: string, create: boolean, separates: boolean, valueFileBytes?: number) {
    super(location, {
      keyEncoding: 'buffer',
      valueEncoding: 'buffer',
      createIfMissing: create,
      errorIfExists: create,
      ...levelSizes(memoryOfProcess()),
    })
    this.rows = new SeparatedRows(
      new ValueFiles(location, valueFileBytes),
      (key) => this.getSync(key),
      separates,
    )
  }

  /** As it was written, not verified. Throws StateDamagedError. */
  rowAt(key: Buffer, snapshot?: DatabaseSnapshot): Buffer | undefined {
    const stored = snapshot === undefined ? this.getSync(key) : this.getSync(key, { snapshot })
    return stored === undefined ? undefined : this.rows.follow(key, stored)
  }

  override snapshot(): DatabaseSnapshot {
    const snapshot = super.snapshot()
    const unpin = this.rows.files.pin()
    const close = snapshot.close.bind(snapshot)
    snapshot.close = async () => {
      unpin()
      await close()
    }
    return snapshot
  }

  override async close(): Promise<void> {
    await super.close()
    await this.rows.files.close()
  }
}

/** `create`: the directory must not hold a database yet; otherwise it must. `separates`: large values may lie beside LevelDB. */
export async function openDatabase(location: string, create: boolean, separates: boolean): Promise<Database> {
  const db = new Database(location, create, separates)
  await db.open()
  return db
}
