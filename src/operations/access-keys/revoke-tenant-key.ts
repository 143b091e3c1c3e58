/** revokeTenantKey: authorize -> tenant and key exist -> reason -> commit. Revoking again changes nothing and is no error. */
import { adminToken } from '../../access/rights.ts'
import { settle } from '../../commands/settle.ts'
import type { AccessKeyRecord } from '../../state-machine/tenants/records.ts'
import { adminOperation } from '../base/operation.ts'
import { givenReason } from '../base/reason.ts'
import { tenantTarget } from '../base/targets.ts'
import { findTenant } from '../tenants/find-tenant.ts'
import { findAccessKey } from './find-access-key.ts'

export const revokeTenantKey = adminOperation(
  {
    id: 'revokeTenantKey',
    requires: adminToken('operator', 'one-tenant'),
    refuses: ['reason_required'],
    target: tenantTarget,
  },
  async (
    services,
    principal,
    input: { readonly id: string; readonly keyId: string; readonly reason: string },
  ): Promise<AccessKeyRecord> => {
    const tenant = findTenant(services, input.id)
    const { accessKeyId } = findAccessKey(services, tenant.id, input.keyId)
    const reason = givenReason(input.reason, `revoke access key "${accessKeyId}"`)
    return settle(
      await services.propose({ type: 'revokeAccessKey', accessKeyId, tenantId: tenant.id, reason }),
    )
  },
)
