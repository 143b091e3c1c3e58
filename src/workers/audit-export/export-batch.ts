/**
 * A stretch of the audit log for a receiver outside of the cluster, with the place in the chain that it ends at.
 *
 * Owns: the texts that every form of delivery shares. Knows nothing of: how they are sent.
 * Rule: a row is delivered as it is kept, behind its id; the hash at the end of each batch lets `holdfast audit verify --head` find later
 * whether the cluster still has the chain that was delivered.
 */
import { outcomeOf } from '../../operations/audit/outcome.ts'
import { parseRow, textsOf } from '../../operations/audit-segments/link-rows.ts'
import type { SealedLink } from '../../operations/audit-segments/segment-format.ts'

export interface ExportedRow {
  readonly id: string
  /** ms since 1970 */
  readonly time: number
  readonly nodeId: string
  readonly operation: string
  readonly outcome: ReturnType<typeof outcomeOf>
  /** A JSON object: `id` and the members of the row. */
  readonly json: string
}

export interface ExportBatch {
  readonly clusterId: string
  /** Numbers of the first link and of the one behind the last. */
  readonly first: number
  readonly next: number
  /** Hash of the link before the first one, and of the last one. */
  readonly before: string
  readonly hash: string
  /** Time of the last link. ms since 1970 */
  readonly time: number
  readonly rows: readonly ExportedRow[]
}

/** JSON: where the batch begins and ends in the chain. */
export function anchorOf({ clusterId, first, next, before, hash, rows }: ExportBatch): string {
  return JSON.stringify({ anchor: { clusterId, first, next, before, hash, rows: rows.length } })
}

/** What cannot be parsed is delivered as a text. */
export function rowsOfLink({ sequence, time, text, rows }: SealedLink): readonly ExportedRow[] {
  return textsOf(text, rows).map((one, n) => {
    const id = rows === undefined ? `au_${sequence}` : `au_${sequence}-${n}`
    const row = parseRow(one)
    if (row === null) {
      const json = JSON.stringify({ id, text: one })
      return { id, time, nodeId: '-', operation: 'unknown', outcome: 'error', json }
    }
    const { nodeId, operation } = row
    return {
      id,
      time: row.time,
      nodeId,
      operation,
      outcome: outcomeOf(row),
      json: `{"id":"${id}",${one.slice(1)}`,
    }
  })
}
