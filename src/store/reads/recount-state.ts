/**
 * Recounts one consistent cut of the state.
 *
 * Owns: feeding the rows from LevelDB into the recount. Knows nothing of: which rows must follow from which.
 * Rule: batches and reads continue meanwhile; memory holds one piece of rows.
 */
import { createHash } from 'node:crypto'
import type { RowKey } from '../../state-machine/base/row-key.ts'
import { Recount } from '../../state-machine/recount/recount.ts'
import { cutView } from '../rows/cut-view.ts'
import { decodeRow } from '../rows/row-codec.ts'
import { ALL_ROWS, scanRows } from '../rows/state-rows.ts'
import type { StateReader } from './state-reader.ts'

export interface Recounted {
  readonly rows: number
  /** What is wrong, in sentences. */
  readonly differences: readonly string[]
}

/** `isWanted` is called between pieces with the rows so far. Null: it returned false, or the state was replaced meanwhile. */
export function recountState(
  reader: StateReader,
  isWanted: (rows: number) => boolean,
): Promise<Recounted | null> {
  return reader.lease(async (state) => {
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
  })
}

function textHash(text: string): bigint {
  return createHash('sha256').update(text).digest().readBigUInt64LE()
}
