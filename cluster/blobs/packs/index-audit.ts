/**
 * Checks that the rows of the index are those that were written.
 *
 * Owns: the comparison of all rows with the totals of their packs. Rule: after a clean stop only the totals are read; after an
 * unclean stop every row is read, because LevelDB drops damaged records of its log without an error.
 */
import {
  CLEAN_KEY,
  decodePlace,
  decodeTotals,
  type IndexRows,
  NAME_ROWS,
  NO_TOTALS,
  PACK_ROWS,
  type PackTotals,
  packOfKey,
  sumOfRow,
} from './index-rows.ts'
import { recordBytes } from './pack-record.ts'

export interface Audit {
  readonly totals: ReadonlyMap<number, PackTotals>
  /** The previous stop was clean. */
  readonly isClean: boolean
  /** Why the rows cannot be used, or null. */
  readonly fault: string | null
}

export async function auditOf(rows: IndexRows): Promise<Audit> {
  const totals = new Map<number, PackTotals>()
  try {
    for await (const [key, row] of rows.entries(PACK_ROWS)) {
      const found = decodeTotals(key, row)
      if (found === null)
        return { totals, isClean: false, fault: `the row of pack ${packOfKey(key)} is damaged` }
      totals.set(packOfKey(key), found)
    }
    const isClean = (await rows.get(CLEAN_KEY)) !== undefined
    return { totals, isClean, fault: isClean ? null : await faultOfNames(rows, totals) }
  } catch (cause) {
    const fault = `the rows cannot be read: ${cause instanceof Error ? cause.message : 'unknown'}`
    return { totals, isClean: false, fault }
  }
}

async function faultOfNames(
  rows: IndexRows,
  totals: ReadonlyMap<number, PackTotals>,
): Promise<string | null> {
  const counted = new Map<number, { records: number; bytes: number; xor: number }>()
  for await (const [key, row] of rows.entries(NAME_ROWS)) {
    const place = decodePlace(key, row)
    if (place === null) return `the row of "${key.slice(1)}" is damaged`
    const count = counted.get(place.pack) ?? { records: 0, bytes: 0, xor: 0 }
    count.records += 1
    count.bytes += recordBytes(place.size)
    count.xor = (count.xor ^ sumOfRow(row)) >>> 0
    counted.set(place.pack, count)
  }
  for (const pack of new Set([...totals.keys(), ...counted.keys()])) {
    const [stored, found] = [totals.get(pack) ?? NO_TOTALS, counted.get(pack) ?? NO_TOTALS]
    if (stored.records !== found.records || stored.bytes !== found.bytes || stored.xor !== found.xor)
      return `pack ${pack} has ${found.records} rows where ${stored.records} were written`
  }
  return null
}
