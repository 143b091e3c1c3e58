/**
 * getTenantEncryption: authorize -> tenant exists -> its keys, without any key: versions, and what is left under the former one.
 */
import { adminToken } from '../../access/rights.ts'
import type { View } from '../../state-machine/base/view.ts'
import { leftUnderFormer } from '../../state-machine/key-exchange/key-exchange.ts'
import { longOperationKeys } from '../../state-machine/long-operations/keys.ts'
import type { LongOperation } from '../../state-machine/long-operations/records.ts'
import { dataKeyVersionOf } from '../../state-machine/tenants/data-keys.ts'
import type { SealedRecord, TenantRecord } from '../../state-machine/tenants/records.ts'
import { adminOperation } from '../base/operation.ts'
import { tenantTarget } from '../base/targets.ts'
import { findTenant } from './find-tenant.ts'

export interface TenantEncryption {
  readonly tenant: TenantRecord
  readonly keyVersion: number
  /** Null: the tenant has one key. */
  readonly exchange: {
    readonly formerVersion: number
    readonly operation: LongOperation | null
    /** Sealed with the former key. */
    readonly left: SealedRecord
  } | null
}

export const getTenantEncryption = adminOperation(
  {
    id: 'getTenantEncryption',
    requires: adminToken('viewer', 'one-tenant'),
    refuses: [],
    target: tenantTarget,
  },
  async (services, _principal, input: { readonly id: string }): Promise<TenantEncryption> => {
    const { id } = findTenant(services, input.id)
    return services.state.cut((view) => encryptionOf(view, findTenant({ state: view }, id)))
  },
)

function encryptionOf(view: View, tenant: TenantRecord): TenantEncryption {
  const { formerKey } = tenant
  const keyVersion = dataKeyVersionOf(tenant)
  if (formerKey === undefined) return { tenant, keyVersion, exchange: null }
  const operation = view.get(longOperationKeys.operation(formerKey.operation)) ?? null
  return {
    tenant,
    keyVersion,
    exchange: { formerVersion: formerKey.version, operation, left: leftUnderFormer(view, tenant.id) },
  }
}
