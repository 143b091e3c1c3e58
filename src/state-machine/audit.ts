/**
 * The audit log inside the replicated state: what was asked for is written in the entry that decided it.
 *
 * Owns: the chain, what nodes bring from their spools, and what is trimmed. Knows nothing of: HTTP, files, compression.
 * Rules: a proposal that carries its origin leaves one row, whether it was accepted or refused; rows of a spool are taken
 * once, however often they are brought; the oldest rows go first, and an anchor stays where the chain was cut.
 */
import { assert } from './assert.ts'
import { linkHash, NO_HEAD } from './audit-chain.ts'
import { toldOf } from './audit-details.ts'
import {
  AUDIT_ROWS_MAX,
  AUDIT_TRIM_CHARACTERS_MAX,
  AUDIT_TRIM_LINKS_MAX,
  type AuditBatch,
  type AuditHeadRecord,
  type AuditLinkRecord,
  type AuditRow,
} from './audit-records.ts'
import type { Command, Reply } from './commands.ts'
import type { Draft } from './draft.ts'
import { keys } from './keys.ts'
import type { Origin } from './origin.ts'
import { type Accepted, accept, type Refused, refuse } from './reply.ts'
import type { ApplyContext, View } from './view.ts'

export function auditHead(view: View): AuditHeadRecord {
  return view.get(keys.auditHead()) ?? NO_HEAD
}

/** Of a refusal it is the only thing that is written. */
export function recordChange(
  draft: Draft,
  change: { readonly command: Command; readonly reply: Reply; readonly origin: Origin },
  context: ApplyContext,
): void {
  append(draft, { text: JSON.stringify(rowOf(change, context)), packed: null }, context)
}

function rowOf(
  { command, reply, origin }: { readonly command: Command; readonly reply: Reply; readonly origin: Origin },
  { time }: ApplyContext,
): AuditRow {
  const { successStatus, elapsedMs, ...asked } = origin
  const { details = null, ...told } = toldOf(command, reply)
  return {
    ...asked,
    ...told,
    time,
    status: reply.ok ? successStatus : null,
    code: reply.ok ? null : codeOf(reply.code),
    bytesOut: null,
    durationMs: elapsedMs,
    details,
  }
}

/** What the caller hears: bytes that were lost meanwhile are to be sent again. */
function codeOf(code: Exclude<Reply, { ok: true }>['code']): string {
  return code === 'chunks_gone' || code === 'session_ended' ? 'slow_down' : code
}

/** Rows that are known already are no error: whoever brings them hears where to go on. */
export function shipAudit(
  draft: Draft,
  command: Extract<Command, { type: 'shipAudit' }>,
  context: ApplyContext,
): Accepted<{ readonly next: number }> | Refused {
  const { node, spool, first, count, digest, packed } = command
  if (!(count >= 1 && count <= AUDIT_ROWS_MAX))
    return refuse('invalid_argument', `Cannot take over ${count} audit rows: 1 to ${AUDIT_ROWS_MAX} at once`)
  const key = keys.auditSpool(node, spool)
  const known = draft.get(key)
  if (known !== undefined && first < known.next) return accept({ next: known.next })
  const batch: AuditBatch = { time: context.time, nodeId: node, spool, first, count, digest }
  append(draft, { text: JSON.stringify(batch), packed }, context)
  const next = first + count
  draft.put(key, { next, time: context.time })
  return accept({ next })
}

export function trimAudit(
  draft: Draft,
  { before }: Extract<Command, { type: 'trimAudit' }>,
  context: ApplyContext,
): Accepted<{ readonly trimmed: number; readonly isMore: boolean }> | Refused {
  if (before > context.time) return refuse('invalid_argument', 'Cannot trim the audit log beyond the present')
  const head = auditHead(draft)
  let { first, anchor } = head
  let characters = 0
  for (; first < head.next; first++) {
    const key = keys.auditLink(first)
    const link = draft.get(key)
    assert(link !== undefined, 'every link between the first and the head is there')
    if (link.time >= before) break
    characters += link.text.length + (link.packed?.length ?? 0)
    const trimmed = first - head.first
    if (trimmed === AUDIT_TRIM_LINKS_MAX || (trimmed > 0 && characters > AUDIT_TRIM_CHARACTERS_MAX)) {
      draft.put(keys.auditHead(), { ...head, first, anchor })
      return accept({ trimmed, isMore: true })
    }
    forgetSpool(draft, link)
    draft.remove(key)
    anchor = link.hash
  }
  const trimmed = first - head.first
  if (trimmed > 0) draft.put(keys.auditHead(), { ...head, first, anchor })
  return accept({ trimmed, isMore: false })
}

/** With its last batch: whatever it still held would be older than what is kept. */
function forgetSpool(draft: Draft, { text, packed, time }: AuditLinkRecord): void {
  if (packed === null) return
  const { nodeId, spool } = JSON.parse(text) as AuditBatch
  const key = keys.auditSpool(nodeId, spool)
  if (draft.get(key)?.time === time) draft.remove(key)
}

function append(
  draft: Draft,
  link: Pick<AuditLinkRecord, 'text' | 'packed'>,
  { time, digest }: ApplyContext,
): void {
  assert(digest !== undefined, 'whoever applies what is audited brings a digest')
  const head = auditHead(draft)
  const hash = linkHash(digest, head.hash, link.text)
  draft.put(keys.auditLink(head.next), { time, ...link, hash })
  draft.put(keys.auditHead(), { ...head, next: head.next + 1, hash })
}
