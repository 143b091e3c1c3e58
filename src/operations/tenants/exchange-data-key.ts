/**
 * exchangeDataKey: authorize -> tenant exists -> reason -> another data key is made -> commit, which decides whether an exchange may begin. What the
 * former key seals is sealed again afterwards, step by step. [docs/adr/0088-exchange-of-tenant-keys.md]
 */
import { adminToken } from '../../access/rights.ts'
import { newOperationId } from '../../commands/operation-id.ts'
import { settle } from '../../commands/settle.ts'
import { leftUnderFormer } from '../../state-machine/key-exchange/key-exchange.ts'
import type { LongOperation } from '../../state-machine/long-operations/records.ts'
import { dataKeyVersionOf } from '../../state-machine/tenants/data-keys.ts'
import { usageOf } from '../../state-machine/usage/usage.ts'
import type { Plan } from '../base/dry-run.ts'
import { adminOperation } from '../base/operation.ts'
import { givenReason } from '../base/reason.ts'
import type { Services } from '../base/services.ts'
import { tenantTarget } from '../base/targets.ts'
import { findTenant } from './find-tenant.ts'

export interface KeyExchangeInput {
  readonly id: string
  /** Of sealed bytes; absent: the walk rests as long as it works. */
  readonly maxBytesPerSecond?: number
  readonly reason: string
}

export const exchangeDataKey = adminOperation(
  {
    id: 'exchangeDataKey',
    requires: adminToken('operator', 'one-tenant'),
    refuses: ['precondition_failed'],
    target: tenantTarget,
  },
  async (services, principal, input: KeyExchangeInput): Promise<LongOperation> => {
    const tenant = findTenant(services, input.id)
    const reason = givenReason(input.reason, `exchange the key of tenant "${tenant.id}"`)
    const from = dataKeyVersionOf(tenant)
    // The key of chunk ids stays.
    const { dataKey, masterKeyId } = services.access.newTenantKeys(tenant.id, from + 1)
    return settle(
      await services.propose({
        type: 'exchangeTenantKey',
        tenantId: tenant.id,
        operationId: newOperationId(),
        requestedBy: principal.tokenId,
        reason,
        maxBytesPerSecond: input.maxBytesPerSecond ?? null,
        from,
        dataKey,
        masterKeyId,
      }),
    )
  },
)

export interface KeyExchangePlan {
  readonly objects: number
  readonly versions: number
  readonly chunks: number
  /** Sealed: chunks, each once, and small bodies. */
  readonly bytes: number
}

/** What would be sealed again. */
export async function planKeyExchange({ state }: Services, tenantId: string): Promise<Plan<KeyExchangePlan>> {
  return state.cut((view) => {
    const { objects, versions } = usageOf(view, tenantId)
    const { chunks, storedBytes, inlineBytes } = leftUnderFormer(view, tenantId)
    const plan = { objects, versions, chunks, bytes: storedBytes + inlineBytes }
    const warning =
      'Snapshots and backups made before the end still hold the former key, sealed under the master key'
    return { plan, warnings: [warning], tenantId }
  })
}
