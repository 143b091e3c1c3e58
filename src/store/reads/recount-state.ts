/**
 * Recounts one consistent cut of the state.
 *
 * Owns: the way of the rows from LevelDB into the recount. Knows nothing of: what must follow from what.
 * Rule: batches and reads go on meanwhile; memory holds one piece of rows.
 */
import { createHash } from 'node:crypto'
import type { RowKey } from '../../state-machine/base/row-key.ts'
import { Recount } from '../../state-machine/recount/recount.ts'
import { cutView } from '../rows/cut-view.ts'
import type { OpenState } from '../rows/open-state.ts'
import { decodeRow } from '../rows/row-codec.ts'
import { ALL_ROWS, scanRows } from '../rows/state-rows.ts'

export interface Recounted {
  readonly rows: number
  /** What is wrong, in sentences. */
  readonly differences: readonly string[]
}

/** Null when the state was closed meanwhile, or nobody wants it any more. Throws StateDamagedError. */
export async function recountState(
  state: OpenState,
  isWanted: (rows: number) => boolean,
): Promise<Recounted | null> {
  const snapshot = state.db.snapshot()
  try {
    const recount = new Recount(textHash, cutView(state.db, snapshot))
    let count = 0
    for await (const rows of scanRows(state.db, { ...ALL_ROWS, snapshot })) {
      if (state.isClosing || !isWanted(count)) return null
      count += rows.length
      for (const { key, value } of rows) {
        const name: RowKey = Buffer.from(key).toString('utf8')
        recount.take(name, decodeRow(name, value))
      }
    }
    return { rows: count, differences: recount.finish() }
  } finally {
    await snapshot.close()
  }
}

function textHash(text: string): bigint {
  return createHash('sha256').update(text).digest().readBigUInt64LE()
}
