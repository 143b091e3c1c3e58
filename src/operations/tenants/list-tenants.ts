/** listTenants: a global token sees all tenants page by page, a scoped one its own. [admin: Endpoints] */
import { adminToken } from '../../access/rights.ts'
import type { TenantRecord } from '../../state-machine/tenants/records.ts'
import { continuedPage, type PageInput } from '../base/continued-page.ts'
import { adminOperation } from '../base/operation.ts'
import { noTarget } from '../base/targets.ts'
import { tenantKeys, tenantRanges } from '../../state-machine/tenants/keys.ts'

const CONTEXT = ['listTenants']

export interface TenantListing {
  readonly tenants: readonly TenantRecord[]
  readonly nextContinuationToken: string | null
}

export const listTenants = adminOperation(
  {
    id: 'listTenants',
    requires: adminToken('viewer', 'own-tenants'),
    refuses: [],
    target: noTarget,
  },
  async (services, principal, input: PageInput): Promise<TenantListing> => {
    if (principal.tenantId !== null) {
      const own = services.state.get(tenantKeys.tenant(principal.tenantId))
      return { tenants: own ? [own] : [], nextContinuationToken: null }
    }
    const { items: tenants, nextContinuationToken } = await continuedPage(services, CONTEXT, input, (asked) =>
      services.state.page(tenantRanges.tenants(), asked),
    )
    return { tenants, nextContinuationToken }
  },
)
