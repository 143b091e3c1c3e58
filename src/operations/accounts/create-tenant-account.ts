/** createTenantAccount: authorize -> tenant exists -> commit, which decides whether the name is free. */
import { adminToken } from '../../access/rights.ts'
import { settle } from '../../commands/settle.ts'
import type { AccountRecord } from '../../state-machine/tenants/records.ts'
import { adminOperation } from '../base/operation.ts'
import { tenantTarget } from '../base/targets.ts'
import { findTenant } from '../tenants/find-tenant.ts'

interface CreateTenantAccountInput {
  readonly id: string
  readonly name: string
  readonly description: string | undefined
}

export const createTenantAccount = adminOperation(
  {
    id: 'createTenantAccount',
    requires: adminToken('operator', 'one-tenant'),
    refuses: ['already_exists', 'precondition_failed'],
    target: tenantTarget,
  },
  async (
    services,
    principal,
    { id, name, description = '' }: CreateTenantAccountInput,
  ): Promise<AccountRecord> => {
    const tenant = findTenant(services, id)
    return settle(await services.propose({ type: 'createAccount', tenantId: tenant.id, name, description }))
  },
)
