/** listTenants: a global token sees all tenants page by page, a scoped one its own. [admin: Endpoints] */
import { authorize } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import type { TenantRecord } from '../../state-machine/tenants/records.ts'
import { openContinuationToken, sealContinuationToken } from '../base/continuation-token.ts'
import { clampPageSize } from '../base/page-size.ts'
import type { Services } from '../base/services.ts'

const CONTEXT = ['listTenants']

export interface TenantListing {
  readonly tenants: readonly TenantRecord[]
  readonly nextContinuationToken: string | null
}

export async function listTenants(
  services: Services,
  principal: AdminTokenPrincipal,
  input: { readonly limit: number | undefined; readonly continuationToken: string | undefined },
): Promise<TenantListing> {
  authorize(principal, 'listTenants', {})
  if (principal.tenantId !== null) {
    const own = services.state.tenant(principal.tenantId)
    return { tenants: own ? [own] : [], nextContinuationToken: null }
  }
  const { continuationToken } = input
  const after =
    continuationToken === undefined ? '' : openContinuationToken(services, CONTEXT, continuationToken)
  const page = await services.state.tenants(after, clampPageSize(input.limit))
  return {
    tenants: page.items,
    nextContinuationToken: page.next === null ? null : sealContinuationToken(services, CONTEXT, page.next),
  }
}
