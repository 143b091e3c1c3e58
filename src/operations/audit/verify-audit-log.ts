/**
 * Checks the chain of the audit log as this node holds it. Reached through filesystem access alone: the local socket.
 */
import { Condition } from '../../../cluster/index.ts'
import { Refusal } from '../../refusal.ts'
import type { NotedHead } from '../../state-machine/audit-chain.ts'
import type { AuditVerdict } from '../../store/state-reader.ts'
import type { Services } from '../services.ts'

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
  const verdict = await services.state.verifyAudit(noted)
  if (verdict !== null) return verdict
  throw new Condition('leader_not_ready', 'The state of this node was replaced meanwhile; ask again')
}
