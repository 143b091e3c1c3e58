/**
 * The rows inside of one link: its text, or those that a node brought packed.
 *
 * Owns: unpacking. Knows nothing of: chains, segments. Rule: what cannot be unpacked is returned as null and never thrown.
 */
import { zstdDecompressSync } from 'node:zlib'
import type { AuditRow } from '../../state-machine/audit/records.ts'

/** Far above what any node packs. */
const PLAIN_BYTES_MAX = 64 * 1024 * 1024

export function plainRows(packed: Uint8Array): string | null {
  try {
    return zstdDecompressSync(packed, { maxOutputLength: PLAIN_BYTES_MAX }).toString('utf8')
  } catch {
    return null
  }
}

/** `rows` of a link as it is kept: undefined for the row of a change, null where they cannot be unpacked. */
export function textsOf(text: string, rows: string | null | undefined): readonly string[] {
  if (rows === undefined) return [text]
  return rows === null ? [] : rows.split('\n')
}

/** Null: no row. */
export function parseRow(text: string): AuditRow | null {
  try {
    return JSON.parse(text) as AuditRow
  } catch {
    return null
  }
}
