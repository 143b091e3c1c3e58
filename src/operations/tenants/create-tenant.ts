/**
 * createTenant: authorize -> check the id -> make the tenant's keys -> commit; that the id is free is decided in the commit.
 */
import { authorize } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import { Refusal } from '../../base/refusal.ts'
import type { TenantRecord } from '../../state-machine/tenants/records.ts'
import type { Services } from '../base/services.ts'
import { settle } from '../../commands/settle.ts'
import { isTenantId, tenantIdFromName } from './tenant-id.ts'

export async function createTenant(
  services: Services,
  principal: AdminTokenPrincipal,
  input: { readonly id?: string; readonly name: string },
): Promise<TenantRecord> {
  const id = input.id ?? tenantIdFromName(input.name)
  authorize(principal, 'createTenant', { tenantId: id })
  if (!isTenantId(id)) {
    throw new Refusal(
      'invalid_request',
      input.id === undefined
        ? `Cannot make an id from the name "${input.name}": give "id" as 2 to 63 of a-z, 0-9 and "-"`
        : `Cannot create tenant "${id}": "id" takes 2 to 63 of a-z, 0-9 and "-"`,
    )
  }
  const keys = services.access.newTenantKeys(id)
  return settle(await services.propose({ type: 'createTenant', id, name: input.name, ...keys }))
}
