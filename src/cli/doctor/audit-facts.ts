/**
 * Asks the running node how its audit log is stored.
 *
 * Owns: the time limit of the question. Rule: a node that cannot say, being older or in trouble, is no finding here.
 */
import type { AuditStanding } from '../../api/local/node-status.ts'
import { localSocketPath } from '../../base/local-socket.ts'
import { exchange } from '../base/local-client.ts'
import type { NodeFacts } from './node-checks.ts'

const ANSWER_MS_MAX = 10_000

/** Null: nobody can be asked, or it cannot say. */
export async function auditFacts(dataDir: string, node: NodeFacts): Promise<AuditStanding | null> {
  const socketPath = localSocketPath(dataDir)
  if (node.kind !== 'answering' || socketPath === null) return null
  try {
    const signal = AbortSignal.timeout(ANSWER_MS_MAX)
    const { status, body } = await exchange({ socketPath, method: 'GET', path: '/audit/standing', signal })
    return status === 200 ? (JSON.parse(body) as AuditStanding) : null
  } catch {
    // Whether the node answers at all is another check.
    return null
  }
}
