/**
 * rebalance: authorize -> tenant and bucket exist -> reason -> commit. The copies are planned and made afterwards, by the nodes. [decisions 12]
 */
import { authorize } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import { Refusal } from '../../base/refusal.ts'
import type { OperationRecord } from '../../state-machine/operations/records.ts'
import { newOperationId } from '../../commands/operation-id.ts'
import type { Services } from '../base/services.ts'
import { givenReason } from '../base/reason.ts'
import { settle } from '../../commands/settle.ts'
import { findTenant } from '../tenants/find-tenant.ts'

export interface RebalanceInput {
  readonly tenantId: string
  /** Absent: all of the tenant's. */
  readonly bucket?: string
  /** Of the whole cluster, for this operation; absent: no limit of its own. */
  readonly maxBytesPerSecond?: number
  readonly reason: string
}

export async function rebalance(
  services: Services,
  principal: AdminTokenPrincipal,
  input: RebalanceInput,
): Promise<OperationRecord> {
  authorize(principal, 'rebalance', {})
  const tenant = findTenant(services, input.tenantId)
  const bucket = input.bucket ?? null
  if (bucket !== null && services.state.bucket(tenant.id, bucket) === undefined)
    throw new Refusal('not_found', `Cannot rebalance: bucket "${bucket}" does not exist`)
  const reason = givenReason(input.reason, 'rebalance')
  const about = { tenantId: tenant.id, bucket, node: null, reason, requestedBy: principal.tokenId }
  return settle(
    await services.propose({
      type: 'startOperation',
      operationId: newOperationId(),
      kind: 'rebalance',
      maxBytesPerSecond: input.maxBytesPerSecond ?? null,
      ...about,
    }),
  )
}
