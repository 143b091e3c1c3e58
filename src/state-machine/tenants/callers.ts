/**
 * Whether an access key that was proved when a request began still counts when its change is decided.
 *
 * Owns: what ends a key, for the proof of a token and for the commit of a change. Knows nothing of: tokens, scopes.
 * Rule: a body may take hours to arrive, so the entry that commits it asks once more: a key that was revoked, rotated or has expired by the
 * time of the log, or whose tenant was disabled, changes nothing from its entry on; nor does a temporary credential from its end on. [native: Bearer token 3]
 */
import { type Refused, refuse } from '../base/reply.ts'
import type { AccessKeyId } from '../base/record-ids.ts'
import type { View } from '../base/view.ts'
import { tenantKeys } from './keys.ts'
import type { AccessKeyRecord } from './records.ts'

const ENDED = 'The temporary credential ended before the change was decided'

/** The proof with which a request began. Absent from a command: a signed URL, an admin token, the cluster itself, or an older version. */
export interface Caller {
  readonly accessKeyId: AccessKeyId
  /** Of the secret that was proved. */
  readonly keyVersion: number
  /** Of a temporary credential, ms since 1970. Absent: its end is that of the key. */
  readonly endsAt?: number
}

/** Null: the key may still change something. `time`: ms since 1970. Codes: tenant_disabled, key_revoked, token_invalid, token_expired. */
export function callerFault(
  view: View,
  { accessKeyId, keyVersion, endsAt = Infinity }: Caller,
  time: number,
): Refused | null {
  const record = view.get(tenantKeys.accessKey(accessKeyId))
  // The oldest revoked keys of a tenant are removed.
  if (record === undefined) return refuse('key_revoked', `Access key '${accessKeyId}' was revoked`)
  switch (keyEnd(view, record, time)) {
    case 'tenant_disabled':
      return refuse('tenant_disabled', `The tenant of access key '${accessKeyId}' is disabled`)
    case 'revoked':
      return refuse('key_revoked', `Access key '${accessKeyId}' was revoked`)
    case 'expired':
      return refuse('key_revoked', `Access key '${accessKeyId}' has expired`)
    case null:
      if (record.version !== keyVersion)
        return refuse('token_invalid', `The bearer token is from before the rotation of '${accessKeyId}'`)
      return time < endsAt ? null : refuse('token_expired', ENDED)
  }
}

type KeyEnd = 'tenant_disabled' | 'revoked' | 'expired'

/** Null: the key is good. The tenant first: disabling it revokes its keys too, and the caller is to learn the reason. [decisions 16] */
export function keyEnd(
  view: View,
  { tenantId, status, expiresAt }: AccessKeyRecord,
  time: number,
): KeyEnd | null {
  if (view.get(tenantKeys.tenant(tenantId))?.status !== 'active') return 'tenant_disabled'
  if (status !== 'active') return 'revoked'
  return expiresAt !== null && time >= expiresAt ? 'expired' : null
}
