/**
 * Appends one link to the chain of the audit log.
 */
import type { ApplyContext, View } from '../base/view.ts'
import { auditRowKeys } from './keys.ts'
import { linkHash, NO_HEAD } from './audit-chain.ts'
import type { AuditHeadRecord, AuditLinkRecord } from './records.ts'
import { assert } from '../base/assert.ts'
import type { Draft } from '../base/draft.ts'

export function auditHead(view: View): AuditHeadRecord {
  return view.get(auditRowKeys.auditHead()) ?? NO_HEAD
}

export function append(
  draft: Draft,
  link: Pick<AuditLinkRecord, 'text' | 'packed'>,
  { orderTime, digest }: ApplyContext,
): void {
  assert(digest !== undefined, 'applying an audited command needs a digest')
  const head = auditHead(draft)
  const hash = linkHash(digest, head.hash, link.text)
  draft.put(auditRowKeys.auditLink(head.next), { time: orderTime, ...link, hash })
  draft.put(auditRowKeys.auditHead(), { ...head, next: head.next + 1, hash })
}
