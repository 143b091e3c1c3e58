/**
 * Queries the running node for what it alone knows: how its audit log and the schedules of backups stand, its place and its disks.
 *
 * Owns: the time limit of the query. Rule: a node that cannot answer, because it is older or in trouble, causes no finding here.
 */
import type { NodePlacement } from '../../api/local/node-placement.ts'
import type { AuditStatus, BackupStatus } from '../../api/local/node-status.ts'
import { localSocketPath } from '../../base/local-socket.ts'
import { exchange } from '../base/local-client.ts'
import type { NodeFacts } from '../../doctor/node-checks.ts'

const ANSWER_MS_MAX = 10_000

/** Null: no node answers, or it cannot answer this query. */
export function auditFacts(dataDir: string, node: NodeFacts): Promise<AuditStatus | null> {
  return asked<AuditStatus>(dataDir, node, '/audit/standing')
}

/** Null: no node answers, or it cannot answer this query. */
export function backupFacts(dataDir: string, node: NodeFacts): Promise<BackupStatus | null> {
  return asked<BackupStatus>(dataDir, node, '/backups/status')
}

/** Null: no node answers, or it cannot answer this query. */
export function placementFacts(dataDir: string, node: NodeFacts): Promise<NodePlacement | null> {
  return asked<NodePlacement>(dataDir, node, '/placement')
}

async function asked<T>(dataDir: string, node: NodeFacts, path: string): Promise<T | null> {
  const socketPath = localSocketPath(dataDir)
  if (node.kind !== 'answering' || socketPath === null) return null
  try {
    const signal = AbortSignal.timeout(ANSWER_MS_MAX)
    const { status, body } = await exchange({ socketPath, method: 'GET', path, signal })
    return status === 200 ? (JSON.parse(body) as T) : null
  } catch {
    // The check 'node' reports a node that does not answer.
    return null
  }
}
