/** The audit origin of a step that a node takes by itself in a requested operation. */
import type { Origin } from '../state-machine/base/origin.ts'
import type { LongOperation } from '../state-machine/long-operations/records.ts'

export function systemOrigin(
  nodeId: string,
  operation: string,
  { operationId, reason }: Pick<LongOperation, 'operationId' | 'reason'>,
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
