/**
 * Whether an access key may act at all, and who it is then.
 *
 * Owns: the refusals of a key that has ended, and the principal of one that has not. Knows nothing of: how its secret was proved; from where it may be
 * used (caller-binding.ts). Rule: both come from the row as it is now, so what a token says of its key is ignored.
 */
import { Refusal } from '../base/refusal.ts'
import type { View } from '../state-machine/base/view.ts'
import { keyEnd } from '../state-machine/tenants/callers.ts'
import type { AccessKeyRecord } from '../state-machine/tenants/records.ts'
import type { AccessKeyPrincipal, Circumstances } from './base/principal.ts'
import { scopesOf } from './scopes-of-key.ts'

/** `name`: what the message calls the key; links do not name it. `time`: ms since 1970. Throws Refusal tenant_disabled, key_revoked. */
export function requireLive(
  state: View,
  record: AccessKeyRecord,
  time: number,
  name = `access key '${record.accessKeyId}'`,
): void {
  const end = keyEnd(state, record, time)
  if (end === null) return
  if (end === 'tenant_disabled') throw new Refusal('tenant_disabled', `The tenant of ${name} is disabled`)
  const key = `${name.charAt(0).toUpperCase()}${name.slice(1)}`
  const how =
    end === 'revoked' ? 'was revoked' : `expired at ${new Date(record.expiresAt ?? 0).toISOString()}`
  throw new Refusal('key_revoked', `${key} ${how}`)
}

/** As the key is now, regardless of what it was when the token was made. */
export function principalOf(
  record: AccessKeyRecord,
  circumstances: Circumstances,
): Omit<AccessKeyPrincipal, 'signedUrl'> {
  const { accessKeyId, tenantId, version: keyVersion } = record
  return {
    kind: 'accessKey',
    accessKeyId,
    tenantId,
    keyVersion,
    scopes: scopesOf(record),
    circumstances,
  }
}
