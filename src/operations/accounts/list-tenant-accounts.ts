/** listTenantAccounts: authorize -> tenant exists -> one page. */
import { adminToken } from '../../access/rights.ts'
import type { AccountRecord } from '../../state-machine/tenants/records.ts'
import { continuedPage } from '../base/continued-page.ts'
import { adminOperation } from '../base/operation.ts'
import { tenantTarget } from '../base/targets.ts'
import { findTenant } from '../tenants/find-tenant.ts'
import { tenantRanges } from '../../state-machine/tenants/keys.ts'

interface ListTenantAccountsInput {
  readonly id: string
  readonly limit: number | undefined
  readonly continuationToken: string | undefined
}

interface AccountListing {
  readonly accounts: readonly AccountRecord[]
  readonly nextContinuationToken: string | null
}

export const listTenantAccounts = adminOperation(
  {
    id: 'listTenantAccounts',
    requires: adminToken('viewer', 'one-tenant'),
    refuses: [],
    target: tenantTarget,
  },
  async (services, principal, input: ListTenantAccountsInput): Promise<AccountListing> => {
    const tenant = findTenant(services, input.id)
    const context = ['listTenantAccounts', tenant.id]
    const { items: accounts, nextContinuationToken } = await continuedPage(
      services,
      context,
      input,
      (asked) => services.state.page(tenantRanges.accounts(tenant.id), asked),
    )
    return { accounts, nextContinuationToken }
  },
)
