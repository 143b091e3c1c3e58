/**
 * rebalance: authorize -> tenant and bucket exist -> reason -> commit. The copies are planned and made afterwards, by the nodes. [decisions 12]
 */
import { adminToken } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import { newOperationId } from '../../commands/operation-id.ts'
import { settle } from '../../commands/settle.ts'
import type { LongOperation } from '../../state-machine/long-operations/records.ts'
import { adminOperation } from '../base/operation.ts'
import { givenReason } from '../base/reason.ts'
import { noTarget } from '../base/targets.ts'
import { findTenant } from '../tenants/find-tenant.ts'
import { bucketKeys } from '../../state-machine/buckets/keys.ts'

export interface RebalanceInput {
  readonly tenantId: string
  /** Absent: all of the tenant's. */
  readonly bucket?: string
  /** Of the whole cluster, for this operation; absent: no limit of its own. */
  readonly maxBytesPerSecond?: number
  readonly reason: string
}

export const rebalance = adminOperation(
  {
    id: 'rebalance',
    requires: adminToken('owner', 'cluster'),
    refuses: ['precondition_failed', 'not_found'],
    target: noTarget,
  },
  async (services, principal, input: RebalanceInput): Promise<LongOperation> => {
    const tenant = findTenant(services, input.tenantId)
    const bucket = input.bucket ?? null
    if (bucket !== null && services.state.get(bucketKeys.bucket(tenant.id, bucket)) === undefined)
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
  },
)
