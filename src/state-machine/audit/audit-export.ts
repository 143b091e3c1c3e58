/**
 * How far the audit log was delivered outside of the cluster.
 *
 * Owns: recordAuditExport. Knows nothing of: receivers.
 * Rule: the place only moves forward, so an older leader that delivers late changes nothing.
 */
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'
import type { Draft } from '../base/draft.ts'
import type { ApplyContext } from '../base/view.ts'
import { auditHead } from './append.ts'
import type { AuditCommand } from './commands.ts'
import { auditRowKeys } from './keys.ts'
import type { AuditExportRecord } from './records.ts'

export function recordAuditExport(
  draft: Draft,
  { next, hash }: Extract<AuditCommand, { type: 'recordAuditExport' }>,
  { orderTime }: ApplyContext,
): Accepted<AuditExportRecord> | Refused {
  const known = draft.get(auditRowKeys.auditExport())
  if (known !== undefined && next <= known.next) return accept(known)
  if (next > auditHead(draft).next)
    return refuse('invalid_argument', 'Cannot record an export beyond the end of the audit log')
  const record: AuditExportRecord = { next, hash, time: orderTime }
  draft.put(auditRowKeys.auditExport(), record)
  return accept(record)
}
