/** deleteTenantQuota: authorize -> find -> commit; nothing limits the tenant any more. Repeating is safe. [decisions 11] */
import { adminToken } from '../../access/rights.ts'
import { settle } from '../../commands/settle.ts'
import { adminOperation } from '../base/operation.ts'
import { tenantTarget } from '../base/targets.ts'
import { findTenant } from './find-tenant.ts'

export const deleteTenantQuota = adminOperation(
  {
    id: 'deleteTenantQuota',
    requires: adminToken('operator', 'one-tenant'),
    refuses: ['precondition_failed'],
    target: tenantTarget,
  },
  async (services, principal, input: { readonly id: string }): Promise<null> => {
    const { id: tenantId } = findTenant(services, input.id)
    const none = { maxBytes: null, maxObjects: null, maxBuckets: null }
    settle(await services.propose({ type: 'setQuota', tenantId, ...none }))
    return null
  },
)
