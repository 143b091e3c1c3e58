/**
 * The audit log inside the replicated state: the entry that decides a request writes its audit row.
 *
 * Owns: the rows that nodes ship from their spools, and trimming. Knows nothing of: HTTP, files, compression.
 * Rules: rows of a spool are taken once, however often they are shipped; the oldest rows are trimmed first, and an anchor stays
 * where the chain was cut.
 */
import type { ApplyContext } from '../base/view.ts'
import { auditRowKeys } from './keys.ts'
import type { AuditCommand } from './commands.ts'
import { append, auditHead } from './append.ts'
import { batchOf } from './audit-chain.ts'
import { rowsBegin, trimSegments } from './audit-segments.ts'
import {
  AUDIT_ROWS_MAX,
  AUDIT_TRIM_CHARACTERS_MAX,
  AUDIT_TRIM_LINKS_MAX,
  type AuditBatch,
  type AuditLinkRecord,
} from './records.ts'
import { assert } from '../base/assert.ts'
import type { Draft } from '../base/draft.ts'
import { accept, type Accepted, refuse, type Refused } from '../base/reply.ts'

/** Known rows are not an error: the reply says from which row the node continues. */
export function shipAudit(
  draft: Draft,
  command: Extract<AuditCommand, { type: 'shipAudit' }>,
  context: ApplyContext,
): Accepted<{ readonly next: number }> | Refused {
  const { node, spool, first, count, digest, packed } = command
  if (!(count >= 1 && count <= AUDIT_ROWS_MAX))
    return refuse('invalid_argument', `Cannot take over ${count} audit rows: 1 to ${AUDIT_ROWS_MAX} at once`)
  const key = auditRowKeys.auditSpool(node, spool)
  const known = draft.get(key)
  if (known !== undefined && first < known.next) return accept({ next: known.next })
  const batch: AuditBatch = { time: context.time, nodeId: node, spool, first, count, digest }
  append(draft, { text: JSON.stringify(batch), packed }, context)
  const next = first + count
  draft.put(key, { next, time: context.orderTime })
  return accept({ next })
}

export function trimAudit(
  draft: Draft,
  { before }: Extract<AuditCommand, { type: 'trimAudit' }>,
  context: ApplyContext,
): Accepted<{ readonly trimmed: number; readonly isMore: boolean }> | Refused {
  if (before > context.confirmedTime)
    return refuse('invalid_argument', 'Cannot trim the audit log beyond the present')
  const older = trimSegments(draft, auditHead(draft), before, context)
  const head = auditHead(draft)
  // Links in rows are newer than those in segments.
  if (head.first < rowsBegin(head).first) return accept(older)
  let { first, anchor } = head
  let characters = 0
  for (; first < head.next; first++) {
    const key = auditRowKeys.auditLink(first)
    const link = draft.get(key)
    assert(link !== undefined, 'every link between the first and the head is there')
    if (link.time >= before) break
    characters += link.text.length + (link.packed?.length ?? 0)
    const trimmed = first - head.first
    if (trimmed === AUDIT_TRIM_LINKS_MAX || (trimmed > 0 && characters > AUDIT_TRIM_CHARACTERS_MAX)) {
      draft.put(auditRowKeys.auditHead(), { ...head, first, anchor })
      return accept({ trimmed: older.trimmed + trimmed, isMore: true })
    }
    forgetSpool(draft, link)
    draft.remove(key)
    anchor = link.hash
  }
  const trimmed = first - head.first
  if (trimmed > 0) draft.put(auditRowKeys.auditHead(), { ...head, first, anchor })
  return accept({ trimmed: older.trimmed + trimmed, isMore: false })
}

/** Removes the row of a spool with its last batch: rows that the spool still holds are older than those that are kept. */
function forgetSpool(draft: Draft, { text, packed, time }: AuditLinkRecord): void {
  if (packed === null) return
  const { nodeId, spool } = batchOf(text)
  const key = auditRowKeys.auditSpool(nodeId, spool)
  if (draft.get(key)?.time === time) draft.remove(key)
}
