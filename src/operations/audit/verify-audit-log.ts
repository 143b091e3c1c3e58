/**
 * Checks the chain of the audit log as this node sees it: rows, rows of segments, and the segments themselves.
 * Reached only through filesystem access: the local socket.
 *
 * Owns: the walk over all of it. Knows nothing of: how a chain is checked.
 * Rule: what cannot be read is a fault of its own, and everything around it is checked all the same.
 */
import { Condition } from '../../../cluster/index.ts'
import { Refusal } from '../../base/refusal.ts'
import { ChainCheck, type NotedHead } from '../../state-machine/audit/audit-chain.ts'
import type { AuditSegmentRecord } from '../../state-machine/audit/records.ts'
import type { Services } from '../base/services.ts'
import { rowFault } from '../audit-segments/audit-segments.ts'
import { type AuditWalkParts, forwards, type WalkStep } from './audit-walk.ts'
import { sha256, type SealedLink } from '../audit-segments/segment-format.ts'
import { auditHead } from '../../state-machine/audit/append.ts'

/** The log is trimmed while it is read: then the check begins again. */
const TRIES_MAX = 3
const NO_BYTES = new Uint8Array()

export interface AuditVerdict {
  readonly links: number
  readonly rows: number
  readonly segments: number
  /** The oldest link that is kept, how many there ever were, and the hash of the last. */
  readonly first: number
  readonly next: number
  readonly hash: string
  /** What is wrong, in sentences. */
  readonly faults: readonly string[]
}

/** Checks data that came from a socket: a head that was noted, or nothing. Throws Refusal `invalid_request`. */
export function parseNotedHead(value: unknown): NotedHead | null {
  if (value === null) return null
  const { next, hash } = (typeof value === 'object' ? value : {}) as Partial<NotedHead>
  if (Number.isSafeInteger(next) && next !== undefined && next >= 0 && /^[0-9a-f]{64}$/.test(hash ?? ''))
    return { next, hash: hash ?? '' }
  throw new Refusal(
    'invalid_request',
    'Cannot verify against a noted head: give the number of links and the hash as verify printed them',
  )
}

export async function verifyAuditLog(services: Services, noted: NotedHead | null): Promise<AuditVerdict> {
  await services.cluster.readBarrier()
  const parts = { state: services.state, segments: services.auditSegments }
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const verdict = await services.auditSegments.walk(() => verifyAudit(parts, noted))
    if (verdict.first === auditHead(services.state).first) return verdict
  }
  throw new Condition('slow_down', 'The audit log was trimmed while it was read; ask again')
}

export async function verifyAudit(parts: AuditWalkParts, noted: NotedHead | null): Promise<AuditVerdict> {
  const head = auditHead(parts.state)
  const check = new ChainCheck(sha256, head, noted)
  const found: string[] = []
  let [links, segments] = [0, 0]
  let open: { readonly segment: AuditSegmentRecord; readonly links: SealedLink[] } | null = null
  const closeSegment = (): void => {
    const fault = open === null ? null : rowFault(open.segment, open.links)
    if (fault !== null)
      found.push(`the row of the segment of link ${open?.segment.first} differs from it: ${fault}`)
    open = null
  }
  const take = (step: WalkStep): void => {
    if (step.kind === 'link') {
      const { sequence, rows, ...link } = step.link
      const isLast = open !== null && sequence >= open.segment.next
      if (isLast) closeSegment()
      open?.links.push(step.link)
      check.take(sequence, { ...link, packed: rows === undefined ? null : NO_BYTES }, () => rows ?? null)
      links++
      return
    }
    closeSegment()
    segments++
    if (step.kind === 'gap') check.skip(step.segment, step.fault)
    else if (step.segment.first >= head.first) open = { segment: step.segment, links: [] }
  }
  for await (const step of forwards(parts, head.first, head.next)) take(step)
  closeSegment()
  const { first, next, hash } = head
  return { links, rows: check.rows, segments, first, next, hash, faults: [...found, ...check.finish()] }
}
