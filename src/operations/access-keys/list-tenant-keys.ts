/** listTenantKeys: authorize -> tenant exists -> one page of metadata; no secret is ever read. */
import { adminToken } from '../../access/rights.ts'
import type { AccessKeyRecord } from '../../state-machine/tenants/records.ts'
import { openContinuationToken, sealContinuationToken } from '../base/continuation-token.ts'
import { adminOperation } from '../base/operation.ts'
import { clampPageSize } from '../base/page-size.ts'
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
    const { continuationToken } = input
    const after =
      continuationToken === undefined ? '' : openContinuationToken(services, context, continuationToken)
    const page = await pageOfAccessKeys(services.state, tenant.id, {
      after,
      limit: clampPageSize(input.limit),
    })
    return {
      keys: page.items,
      nextContinuationToken: page.next === null ? null : sealContinuationToken(services, context, page.next),
    }
  },
)
