/**
 * Checks the chain of the audit log as this node sees it: rows, rows of segments, and the segments themselves.
 * Reached only through filesystem access: the local socket.
 *
 * Owns: the walk over all of it. Knows nothing of: how a chain is checked.
 */
import { Refusal } from '../../base/refusal.ts'
import type { NotedHead } from '../../state-machine/audit/audit-chain.ts'
import type { Services } from '../base/services.ts'
import { type AuditWalkParts, forwards, untrimmed } from './audit-walk.ts'
import { LogCheck } from './log-check.ts'
import { auditHead } from '../../state-machine/audit/append.ts'

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
  return untrimmed(
    services,
    (parts) => verifyAudit(parts, noted),
    ({ first }) => first,
  )
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
