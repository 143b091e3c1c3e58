/** listTenants: a global token sees all tenants page by page, a scoped one its own. [admin: Endpoints] */
import { adminToken } from '../../access/rights.ts'
import type { TenantRecord } from '../../state-machine/tenants/records.ts'
import { openContinuationToken, sealContinuationToken } from '../base/continuation-token.ts'
import { adminOperation } from '../base/operation.ts'
import { clampPageSize } from '../base/page-size.ts'
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
  async (
    services,
    principal,
    input: { readonly limit: number | undefined; readonly continuationToken: string | undefined },
  ): Promise<TenantListing> => {
    if (principal.tenantId !== null) {
      const own = services.state.get(tenantKeys.tenant(principal.tenantId))
      return { tenants: own ? [own] : [], nextContinuationToken: null }
    }
    const { continuationToken } = input
    const after =
      continuationToken === undefined ? '' : openContinuationToken(services, CONTEXT, continuationToken)
    const page = await services.state.page(tenantRanges.tenants(), {
      after,
      limit: clampPageSize(input.limit),
    })
    return {
      tenants: page.items,
      nextContinuationToken: page.next === null ? null : sealContinuationToken(services, CONTEXT, page.next),
    }
  },
)
