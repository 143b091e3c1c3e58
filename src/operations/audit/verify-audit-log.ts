/**
 * Checks the chain of the audit log as this node sees it: rows, rows of segments, and the segments themselves.
 * Reached only through filesystem access: the local socket.
 *
 * Owns: the walk over all of it, and that it begins again when the log is trimmed meanwhile. Knows nothing of: how a chain is checked.
 */
import { Condition } from '../../../cluster/index.ts'
import { Refusal } from '../../base/refusal.ts'
import type { NotedHead } from '../../state-machine/audit/audit-chain.ts'
import type { Services } from '../base/services.ts'
import { type AuditWalkParts, forwards } from './audit-walk.ts'
import { LogCheck } from './log-check.ts'
import { auditHead } from '../../state-machine/audit/append.ts'

/** The log is trimmed while it is read: then the check begins again. */
const TRIES_MAX = 3

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
  const check = new LogCheck(head, { noted })
  for await (const step of forwards(parts, head.first, head.next)) check.take(step)
  const faults = check.finish()
  const { links, rows, segments } = check
  const { first, next, hash } = head
  return { links, rows, segments, first, next, hash, faults }
}
