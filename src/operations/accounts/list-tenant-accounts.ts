/** listTenantAccounts: authorize -> tenant exists -> one page. */
import { authorize } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import type { AccountRecord } from '../../state-machine/tenants/records.ts'
import { openContinuationToken, sealContinuationToken } from '../base/continuation-token.ts'
import { clampPageSize } from '../base/page-size.ts'
import type { Services } from '../base/services.ts'
import { findTenant } from '../tenants/find-tenant.ts'

interface ListTenantAccountsInput {
  readonly id: string
  readonly limit: number | undefined
  readonly continuationToken: string | undefined
}

interface AccountListing {
  readonly accounts: readonly AccountRecord[]
  readonly nextContinuationToken: string | null
}

export async function listTenantAccounts(
  services: Services,
  principal: AdminTokenPrincipal,
  input: ListTenantAccountsInput,
): Promise<AccountListing> {
  authorize(principal, 'listTenantAccounts', { tenantId: input.id })
  const tenant = findTenant(services, input.id)
  const context = ['listTenantAccounts', tenant.id]
  const { continuationToken } = input
  const after =
    continuationToken === undefined ? '' : openContinuationToken(services, context, continuationToken)
  const page = await services.state.accounts(tenant.id, after, clampPageSize(input.limit))
  return {
    accounts: page.items,
    nextContinuationToken: page.next === null ? null : sealContinuationToken(services, context, page.next),
  }
}
