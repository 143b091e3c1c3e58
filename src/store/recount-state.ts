/**
 * Recounts one consistent cut of the state.
 *
 * Owns: the way of the rows from LevelDB into the recount. Knows nothing of: what must follow from what.
 * Rule: batches and reads go on meanwhile; memory holds one piece of rows.
 */
import { createHash } from 'node:crypto'
import { Recount } from '../state-machine/recount.ts'
import type { RowKey } from '../state-machine/view.ts'
import type { OpenState } from './open-state.ts'
import { decodeRow } from './row-codec.ts'
import { viewAt } from './snapshot-view.ts'
import { ALL_ROWS, scanRows } from './state-rows.ts'

/** What is wrong, in sentences; null when the state was closed meanwhile. Throws StateDamagedError. */
export async function recountState(state: OpenState): Promise<readonly string[] | null> {
  const snapshot = state.db.snapshot()
  try {
    const recount = new Recount(textHash, viewAt(state.db, snapshot))
    for await (const rows of scanRows(state.db, { ...ALL_ROWS, snapshot })) {
      if (state.isClosing) return null
      for (const { key, value } of rows) {
        const name: RowKey = Buffer.from(key).toString('utf8')
        recount.take(name, decodeRow(name, value))
      }
    }
    return recount.finish()
  } finally {
    await snapshot.close()
  }
}

function textHash(text: string): bigint {
  return createHash('sha256').update(text).digest().readBigUInt64LE()
}
