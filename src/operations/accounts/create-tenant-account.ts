/** createTenantAccount: authorize -> tenant exists -> commit, which decides whether the name is free. */
import { authorize } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import type { AccountRecord } from '../../state-machine/tenants/records.ts'
import type { Services } from '../base/services.ts'
import { settle } from '../../commands/settle.ts'
import { findTenant } from '../tenants/find-tenant.ts'

interface CreateTenantAccountInput {
  readonly id: string
  readonly name: string
  readonly description: string | undefined
}

export async function createTenantAccount(
  services: Services,
  principal: AdminTokenPrincipal,
  { id, name, description = '' }: CreateTenantAccountInput,
): Promise<AccountRecord> {
  authorize(principal, 'createTenantAccount', { tenantId: id })
  const tenant = findTenant(services, id)
  return settle(await services.propose({ type: 'createAccount', tenantId: tenant.id, name, description }))
}
