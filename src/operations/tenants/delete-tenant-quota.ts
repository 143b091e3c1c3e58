/** deleteTenantQuota: authorize -> find -> commit; nothing limits the tenant any more. Repeating is safe. [decisions 11] */
import { authorize } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import type { Services } from '../base/services.ts'
import { settle } from '../../commands/settle.ts'
import { findTenant } from './find-tenant.ts'

export async function deleteTenantQuota(
  services: Services,
  principal: AdminTokenPrincipal,
  input: { readonly id: string },
): Promise<null> {
  authorize(principal, 'deleteTenantQuota', { tenantId: input.id })
  const { id: tenantId } = findTenant(services, input.id)
  const none = { maxBytes: null, maxObjects: null, maxBuckets: null }
  settle(await services.propose({ type: 'setQuota', tenantId, ...none }))
  return null
}
