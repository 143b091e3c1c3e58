/**
 * Queries the running node for the state of its audit log.
 *
 * Owns: the time limit of the query. Rule: a node that cannot answer, because it is older or in trouble, causes no finding here.
 */
import type { AuditStatus } from '../../api/local/node-status.ts'
import { localSocketPath } from '../../base/local-socket.ts'
import { exchange } from '../base/local-client.ts'
import type { NodeFacts } from './node-checks.ts'

const ANSWER_MS_MAX = 10_000

/** Null: no node answers, or it cannot answer this query. */
export async function auditFacts(dataDir: string, node: NodeFacts): Promise<AuditStatus | null> {
  const socketPath = localSocketPath(dataDir)
  if (node.kind !== 'answering' || socketPath === null) return null
  try {
    const signal = AbortSignal.timeout(ANSWER_MS_MAX)
    const { status, body } = await exchange({ socketPath, method: 'GET', path: '/audit/standing', signal })
    return status === 200 ? (JSON.parse(body) as AuditStatus) : null
  } catch {
    // The check 'node' reports a node that does not answer.
    return null
  }
}
