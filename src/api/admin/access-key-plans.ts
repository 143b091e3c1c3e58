/**
 * What dry runs of access keys answer: the key as it is and as it would be, and never a secret.
 *
 * Knows nothing of: whether it would be allowed; mutation.ts says that.
 */
import Type, { type Static } from 'typebox'
import type { AccessKeyWithSecret } from '../../operations/access-keys/create-tenant-key.ts'
import { findAccessKey } from '../../operations/access-keys/find-access-key.ts'
import type { Plan } from '../../operations/base/dry-run.ts'
import type { Services } from '../../operations/base/services.ts'
import { ACCESS_KEYS_PER_TENANT_MAX, type AccessKeyRecord } from '../../state-machine/tenants/records.ts'
import { tenantAccessOf } from '../../state-machine/tenants/tenant-access.ts'
import { orNull, Time, timeText, timeTextOrNull } from '../wire.ts'

const Count = Type.Integer({ minimum: 0 })
const Status = Type.Enum(['active', 'revoked'])
const Terms = Type.Object({ scopes: Type.String(), expiresAt: orNull(Time), version: Type.Integer() })

/** `key`: null when it would not be made. */
export const NewKeyPlan = Type.Object({
  accountId: orNull(Type.String()),
  key: orNull(Terms),
  activeKeys: Count,
  activeKeysMax: Count,
})
/** `after`: null when it would not be rotated. */
export const RotationPlan = Type.Object({ accessKeyId: Type.String(), before: Terms, after: orNull(Terms) })
export const RevocationPlan = Type.Object({
  accessKeyId: Type.String(),
  statusBefore: Status,
  statusAfter: Status,
})

const OLD_SECRET_ENDS = 'Tokens and signed URLs that were made with the present secret end at once'
const NO_WAY_BACK = 'A revoked key never comes back'

interface KeyParams {
  readonly id: string
  readonly keyId: string
}

export async function planNewKey(
  { state }: Services,
  { params: { id } }: { readonly params: Pick<KeyParams, 'id'> },
  outcome: AccessKeyWithSecret | null,
): Promise<Plan<Static<typeof NewKeyPlan>>> {
  const plan = {
    accountId: outcome?.key.accountId ?? null,
    key: outcome === null ? null : termsOf(outcome.key),
    activeKeys: tenantAccessOf(state, id).activeKeys.length,
    activeKeysMax: ACCESS_KEYS_PER_TENANT_MAX,
  }
  return { plan, warnings: [], tenantId: id }
}

export async function planRotation(
  services: Services,
  { params: { id, keyId } }: { readonly params: KeyParams },
  outcome: AccessKeyWithSecret | null,
): Promise<Plan<Static<typeof RotationPlan>>> {
  const before = findAccessKey(services, id, keyId)
  const after = outcome === null ? null : termsOf(outcome.key)
  const warnings = outcome === null ? [] : rotationWarnings(outcome.key, services.cluster.time.now())
  return { plan: { accessKeyId: keyId, before: termsOf(before), after }, warnings, tenantId: id }
}

export async function planRevocation(
  services: Services,
  { params: { id, keyId } }: { readonly params: KeyParams },
  outcome: AccessKeyRecord | null,
): Promise<Plan<Static<typeof RevocationPlan>>> {
  const { status: statusBefore } = findAccessKey(services, id, keyId)
  const plan = { accessKeyId: keyId, statusBefore, statusAfter: outcome?.status ?? statusBefore }
  return { plan, warnings: statusBefore === 'active' ? [NO_WAY_BACK] : [], tenantId: id }
}

function rotationWarnings({ expiresAt }: AccessKeyRecord, now: number): string[] {
  if (expiresAt === null || expiresAt > now) return [OLD_SECRET_ENDS]
  const expired = `The key expired at ${timeText(expiresAt)} and would stay so: give "expiresAt" as well`
  return [OLD_SECRET_ENDS, expired]
}

function termsOf({ scopes, expiresAt, version }: AccessKeyRecord): Static<typeof Terms> {
  return { scopes, expiresAt: timeTextOrNull(expiresAt), version }
}
