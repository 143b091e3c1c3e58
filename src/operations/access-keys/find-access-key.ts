/**
 * Looks an access key up inside one tenant.
 *
 * Rule: a key of another tenant does not exist here, for any caller.
 */
import { Refusal } from '../../base/refusal.ts'
import type { TenantId } from '../../state-machine/base/record-ids.ts'
import type { AccessKeyRecord } from '../../state-machine/tenants/records.ts'
import type { Services } from '../base/services.ts'
import { tenantKeys } from '../../state-machine/tenants/keys.ts'

const ACCESS_KEY_ID = /^[A-Z0-9]{1,64}$/

export function findAccessKey(
  services: Pick<Services, 'state'>,
  tenantId: TenantId,
  keyId: string,
): AccessKeyRecord {
  const record = ACCESS_KEY_ID.test(keyId) ? services.state.get(tenantKeys.accessKey(keyId)) : undefined
  if (!record || record.tenantId !== tenantId) {
    throw new Refusal(
      'not_found',
      `Access key "${keyId.slice(0, 64)}" does not exist in tenant "${tenantId}"`,
    )
  }
  return record
}
