/** listTenantKeys: authorize -> tenant exists -> one page of metadata; no secret is ever read. */
import { adminToken } from '../../access/rights.ts'
import type { AccessKeyRecord } from '../../state-machine/tenants/records.ts'
import { continuedPage } from '../base/continued-page.ts'
import { adminOperation } from '../base/operation.ts'
import { tenantTarget } from '../base/targets.ts'
import { findTenant } from '../tenants/find-tenant.ts'
import { pageOfAccessKeys } from '../../store/reads/access-key-listing.ts'

interface ListTenantKeysInput {
  readonly id: string
  readonly limit: number | undefined
  readonly continuationToken: string | undefined
}

export interface AccessKeyListing {
  readonly keys: readonly AccessKeyRecord[]
  readonly nextContinuationToken: string | null
}

export const listTenantKeys = adminOperation(
  {
    id: 'listTenantKeys',
    requires: adminToken('viewer', 'one-tenant'),
    refuses: [],
    target: tenantTarget,
  },
  async (services, principal, input: ListTenantKeysInput): Promise<AccessKeyListing> => {
    const tenant = findTenant(services, input.id)
    const context = ['listTenantKeys', tenant.id]
    const { items: keys, nextContinuationToken } = await continuedPage(services, context, input, (asked) =>
      pageOfAccessKeys(services.state, tenant.id, asked),
    )
    return { keys, nextContinuationToken }
  },
)
