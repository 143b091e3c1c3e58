/** What the audit log is told of a step that a node takes by itself in an operation somebody asked for. */
import type { Origin } from '../state-machine/base/origin.ts'
import type { OperationRecord } from '../state-machine/operations/records.ts'

export function systemOrigin(
  nodeId: string,
  operation: string,
  { operationId, reason }: Pick<OperationRecord, 'operationId' | 'reason'>,
): Origin {
  return {
    requestId: operationId,
    api: 'internal',
    operation,
    method: 'WORK',
    path: `/cluster/operations/${operationId}`,
    actor: { type: 'system', id: null, role: null },
    tenantId: null,
    bucket: null,
    key: null,
    versionId: null,
    reason,
    sourceIp: null,
    userAgent: null,
    bytesIn: 0,
    elapsedMs: 0,
    successStatus: 200,
    nodeId,
  }
}
