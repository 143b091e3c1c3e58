/**
 * An access key as operators see it. [decisions 11]
 *
 * Rule: every member is named here; the sealed secret of the record has no way out.
 */
import Type, { type Static } from 'typebox'
import type { AccessKeyRecord } from '../../state-machine/tenants/records.ts'
import { orNull, Time, timeText, timeTextOrNull } from '../wire.ts'

const MEMBERS = {
  accessKeyId: Type.String(),
  tenantId: Type.String(),
  accountId: orNull(Type.String()),
  name: orNull(Type.String()),
  scopes: Type.String(),
  status: Type.Enum(['active', 'revoked']),
  createdAt: Time,
  expiresAt: orNull(Time),
  rotatedAt: orNull(Time),
  revokedAt: orNull(Time),
  revokedReason: orNull(Type.String()),
  lastUsedAt: Type.Union([Time, Type.Null()], {
    description: 'Up to about an hour behind; null: it was never used',
  }),
  version: Type.Integer(),
  allowedAddresses: Type.Optional(
    Type.Array(Type.String(), { description: 'From where it may be used; absent: from everywhere' }),
  ),
  clientCertificates: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Certificates of clients: the caller must have one of them; absent: it needs none',
    }),
  ),
}

export const AccessKeyView = Type.Object(MEMBERS, { additionalProperties: false })

export const AccessKeyWithSecretView = Type.Object(
  { ...MEMBERS, secretKey: Type.String() },
  { additionalProperties: false },
)

export function accessKeyView(key: AccessKeyRecord): Static<typeof AccessKeyView> {
  return {
    accessKeyId: key.accessKeyId,
    tenantId: key.tenantId,
    accountId: key.accountId,
    name: key.name,
    scopes: key.scopes,
    status: key.status,
    createdAt: timeText(key.createdAt),
    expiresAt: timeTextOrNull(key.expiresAt),
    rotatedAt: timeTextOrNull(key.rotatedAt),
    revokedAt: timeTextOrNull(key.revokedAt),
    revokedReason: key.revokedReason,
    lastUsedAt: timeTextOrNull(key.lastUsedAt),
    version: key.version,
    ...bindingView(key),
  }
}

function bindingView({ boundTo }: AccessKeyRecord): Partial<Static<typeof AccessKeyView>> {
  const { addresses = [], certificates = [] } = boundTo ?? {}
  return {
    ...(addresses.length === 0 ? {} : { allowedAddresses: [...addresses] }),
    ...(certificates.length === 0 ? {} : { clientCertificates: [...certificates] }),
  }
}
