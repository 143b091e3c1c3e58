/**
 * createTenantKey: authorize -> tenant exists -> scopes and expiry -> commit, which knows the accounts. The secret leaves here and nowhere else.
 */
import { authorize } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import { DEFAULT_SCOPES, parseScopes } from '../../access/scopes.ts'
import type { AccessKeyRecord } from '../../state-machine/tenants/records.ts'
import type { Services } from '../base/services.ts'
import { settle } from '../../commands/settle.ts'
import { findTenant } from '../tenants/find-tenant.ts'
import { keyExpiry } from './key-expiry.ts'

interface CreateTenantKeyInput {
  readonly id: string
  readonly name: string | undefined
  /** undefined: of no account. */
  readonly accountId: string | undefined
  readonly scopes: string | undefined
  readonly expiresAt: string | undefined
  /** Milliseconds since 1970, by the clock of the node that was asked. */
  readonly now: number
}

export interface AccessKeyWithSecret {
  readonly key: AccessKeyRecord
  readonly secretKey: string
}

export async function createTenantKey(
  services: Services,
  principal: AdminTokenPrincipal,
  input: CreateTenantKeyInput,
): Promise<AccessKeyWithSecret> {
  authorize(principal, 'createTenantKey', { tenantId: input.id })
  const tenant = findTenant(services, input.id)
  const scopes = input.scopes ?? DEFAULT_SCOPES
  parseScopes(scopes)
  const expiresAt = input.expiresAt === undefined ? null : keyExpiry(input.expiresAt, input.now)
  const fresh = services.access.newAccessKey()
  const key = settle(
    await services.propose({
      type: 'createAccessKey',
      accessKeyId: fresh.accessKeyId,
      tenantId: tenant.id,
      accountId: input.accountId ?? null,
      name: input.name ?? null,
      scopes,
      secret: fresh.sealed,
      expiresAt,
    }),
  )
  return { key, secretKey: fresh.secretKey }
}
