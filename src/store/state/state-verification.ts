/**
 * Reads every row of the state and compares their sum with the running checksum.
 *
 * Owns: the comparison. Knows nothing of: when it is due, what is done about a difference.
 * Rule: it reads one consistent cut, piece by piece, so that batches and reads continue meanwhile.
 */
import { damageIn } from '../rows/state-errors.ts'
import type { OpenState } from '../rows/open-state.ts'
import { rowHash, RowSum } from '../rows/row-sum.ts'
import { ALL_ROWS, scanRows } from '../rows/state-rows.ts'

/** Reading this many rows takes some seconds. */
const ROWS_PER_REPORT = 500_000

/** Null, or what is wrong. A state that is closed meanwhile counts as sound. */
export async function verifyState(
  state: OpenState,
  onProgress: (rows: number) => void,
): Promise<string | null> {
  const snapshot = state.db.snapshot()
  try {
    const seal = state.seal(snapshot)
    if (seal === null) return 'its checksum row is missing'
    const sum = new RowSum()
    let count = 0
    for await (const rows of scanRows(state.db, { ...ALL_ROWS, snapshot })) {
      if (state.isClosing) return null
      for (const { key, value } of rows) {
        sum.add(rowHash(key, value))
        if (++count % ROWS_PER_REPORT === 0) onProgress(count)
      }
    }
    return sum.bytes().equals(seal.sum.bytes()) ? null : 'its rows are not those that its checksum speaks of'
  } catch (error) {
    if (state.isClosing) return null
    const damage = damageIn(error)
    if (damage === null) throw error
    return damage.message
  } finally {
    await snapshot.close()
  }
}
