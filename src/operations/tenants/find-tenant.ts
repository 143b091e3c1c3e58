/** Looks a tenant up, regardless of its status. */
import { Refusal } from '../../base/refusal.ts'
import type { TenantId } from '../../state-machine/base/record-ids.ts'
import type { TenantRecord } from '../../state-machine/tenants/records.ts'
import type { View } from '../../state-machine/base/view.ts'
import { isTenantId } from './tenant-id.ts'
import { tenantKeys } from '../../state-machine/tenants/keys.ts'

export function findTenant(services: { readonly state: View }, id: TenantId): TenantRecord {
  const tenant = isTenantId(id) ? services.state.get(tenantKeys.tenant(id)) : undefined
  if (!tenant) throw new Refusal('not_found', `Tenant "${id.slice(0, 64)}" does not exist`)
  return tenant
}
