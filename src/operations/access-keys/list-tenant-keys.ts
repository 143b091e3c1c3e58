/** listTenantKeys: authorize -> tenant exists -> one page of metadata; no secret is ever read. */
import { authorize } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import type { AccessKeyRecord } from '../../state-machine/tenants/records.ts'
import { openContinuationToken, sealContinuationToken } from '../base/continuation-token.ts'
import { clampPageSize } from '../base/page-size.ts'
import type { Services } from '../base/services.ts'
import { findTenant } from '../tenants/find-tenant.ts'

interface ListTenantKeysInput {
  readonly id: string
  readonly limit: number | undefined
  readonly continuationToken: string | undefined
}

export interface AccessKeyListing {
  readonly keys: readonly AccessKeyRecord[]
  readonly nextContinuationToken: string | null
}

export async function listTenantKeys(
  services: Services,
  principal: AdminTokenPrincipal,
  input: ListTenantKeysInput,
): Promise<AccessKeyListing> {
  authorize(principal, 'listTenantKeys', { tenantId: input.id })
  const tenant = findTenant(services, input.id)
  const context = ['listTenantKeys', tenant.id]
  const { continuationToken } = input
  const after =
    continuationToken === undefined ? '' : openContinuationToken(services, context, continuationToken)
  const page = await services.state.accessKeys(tenant.id, after, clampPageSize(input.limit))
  return {
    keys: page.items,
    nextContinuationToken: page.next === null ? null : sealContinuationToken(services, context, page.next),
  }
}
