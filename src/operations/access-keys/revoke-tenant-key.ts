/** revokeTenantKey: authorize -> tenant and key exist -> reason -> commit. Revoking again changes nothing and is no error. */
import { authorize } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import type { AccessKeyRecord } from '../../state-machine/tenants/records.ts'
import { givenReason } from '../base/reason.ts'
import type { Services } from '../base/services.ts'
import { settle } from '../../commands/settle.ts'
import { findTenant } from '../tenants/find-tenant.ts'
import { findAccessKey } from './find-access-key.ts'

export async function revokeTenantKey(
  services: Services,
  principal: AdminTokenPrincipal,
  input: { readonly id: string; readonly keyId: string; readonly reason: string },
): Promise<AccessKeyRecord> {
  authorize(principal, 'revokeTenantKey', { tenantId: input.id })
  const tenant = findTenant(services, input.id)
  const { accessKeyId } = findAccessKey(services, tenant.id, input.keyId)
  const reason = givenReason(input.reason, `revoke access key "${accessKeyId}"`)
  return settle(await services.propose({ type: 'revokeAccessKey', accessKeyId, tenantId: tenant.id, reason }))
}
