/**
 * The audit row of a change, written in the entry that decides the change.
 *
 * Rule: a proposal that carries its origin leaves one row, whether it was accepted or refused.
 */
import type { ApplyContext } from './base/view.ts'
import { auditedChangeOf } from './audit-details.ts'
import { append } from './audit/append.ts'
import type { AuditRow } from './audit/records.ts'
import type { Draft } from './base/draft.ts'
import type { Origin } from './base/origin.ts'
import type { Command, Reply } from './commands.ts'

/** For a refused command this is the only write. */
export function recordChange(
  draft: Draft,
  change: { readonly command: Command; readonly reply: Reply; readonly origin: Origin },
  context: ApplyContext,
): void {
  append(draft, { text: JSON.stringify(rowOf(change, context)), packed: null }, context)
}

function rowOf(
  { command, reply, origin }: { readonly command: Command; readonly reply: Reply; readonly origin: Origin },
  { time, before }: ApplyContext,
): AuditRow {
  const { successStatus, elapsedMs, ...request } = origin
  const { details = null, ...change } = auditedChangeOf(command, reply)
  return {
    ...request,
    ...change,
    time: before?.time ?? time,
    status: reply.ok ? successStatus : null,
    code: reply.ok ? null : codeOf(reply.code),
    bytesOut: null,
    durationMs: elapsedMs,
    details,
  }
}

/** The code that the caller receives: lost bytes have to be sent again. */
function codeOf(code: Exclude<Reply, { ok: true }>['code']): string {
  return code === 'chunks_gone' || code === 'session_ended' || code === 'basis_gone' ? 'slow_down' : code
}
