/**
 * createTenantKey: authorize -> tenant exists -> scopes, expiry and binding -> commit, which knows the accounts. The secret leaves here and nowhere else.
 */
import { readBinding } from '../../access/caller-binding.ts'
import { adminTokenForKeys } from '../../access/rights.ts'
import { DEFAULT_SCOPES, parseScopes } from '../../access/scopes.ts'
import { settle } from '../../commands/settle.ts'
import type { AccessKeyRecord } from '../../state-machine/tenants/records.ts'
import { adminOperation } from '../base/operation.ts'
import { tenantTarget } from '../base/targets.ts'
import { findTenant } from '../tenants/find-tenant.ts'
import { keyExpiry } from './key-expiry.ts'

interface CreateTenantKeyInput {
  readonly id: string
  readonly name: string | undefined
  /** undefined: of no account. */
  readonly accountId: string | undefined
  readonly scopes: string | undefined
  readonly expiresAt: string | undefined
  /** Addresses and ranges from which it may be used; undefined or empty: any. */
  readonly allowedAddresses: readonly string[] | undefined
  /** Certificates of clients that may use it; undefined or empty: any, or none. */
  readonly clientCertificates: readonly string[] | undefined
  /** Milliseconds since 1970, by the clock of the node that was asked. */
  readonly now: number
}

export interface AccessKeyWithSecret {
  readonly key: AccessKeyRecord
  readonly secretKey: string
}

export const createTenantKey = adminOperation(
  {
    id: 'createTenantKey',
    requires: adminTokenForKeys('operator', 'one-tenant'),
    refuses: ['precondition_failed'],
    target: tenantTarget,
  },
  async (services, principal, input: CreateTenantKeyInput): Promise<AccessKeyWithSecret> => {
    const tenant = findTenant(services, input.id)
    const scopes = input.scopes ?? DEFAULT_SCOPES
    parseScopes(scopes)
    const expiresAt = input.expiresAt === undefined ? null : keyExpiry(input.expiresAt, input.now)
    const boundTo = readBinding({
      addresses: input.allowedAddresses,
      certificates: input.clientCertificates,
    })
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
        ...(boundTo === undefined ? {} : { boundTo }),
      }),
    )
    return { key, secretKey: fresh.secretKey }
  },
)
