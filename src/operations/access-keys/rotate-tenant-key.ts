/**
 * rotateTenantKey: authorize -> tenant and key exist -> scopes, expiry and binding -> commit. The id stays, the secret and the key
 * version change, and with them every token minted from the old secret dies. [decisions 1]
 */
import { readBinding } from '../../access/caller-binding.ts'
import { adminTokenForKeys } from '../../access/rights.ts'
import { parseScopes } from '../../access/scopes.ts'
import { settle } from '../../commands/settle.ts'
import { adminOperation } from '../base/operation.ts'
import { tenantTarget } from '../base/targets.ts'
import { findTenant } from '../tenants/find-tenant.ts'
import type { AccessKeyWithSecret } from './create-tenant-key.ts'
import { findAccessKey } from './find-access-key.ts'
import { keyExpiry } from './key-expiry.ts'

/** The command's word for "no expiry from now on". */
const NEVER = 0

interface RotateTenantKeyInput {
  readonly id: string
  readonly keyId: string
  /** undefined keeps the present scopes. */
  readonly scopes: string | undefined
  /** undefined keeps the present expiry, null clears it. */
  readonly expiresAt: string | null | undefined
  /** Addresses and ranges from which it may be used; undefined keeps those there are, empty: any. */
  readonly allowedAddresses: readonly string[] | undefined
  /** Certificates of clients that may use it; undefined keeps those there are, empty: any, or none. */
  readonly clientCertificates: readonly string[] | undefined
  readonly now: number
}

export const rotateTenantKey = adminOperation(
  {
    id: 'rotateTenantKey',
    requires: adminTokenForKeys('operator', 'one-tenant'),
    refuses: ['precondition_failed'],
    target: tenantTarget,
  },
  async (services, principal, input: RotateTenantKeyInput): Promise<AccessKeyWithSecret> => {
    const tenant = findTenant(services, input.id)
    const { accessKeyId, boundTo: present } = findAccessKey(services, tenant.id, input.keyId)
    if (input.scopes !== undefined) parseScopes(input.scopes)
    const boundTo = readBinding(
      { addresses: input.allowedAddresses, certificates: input.clientCertificates },
      present,
    )
    const fresh = services.access.newSecret(accessKeyId)
    const key = settle(
      await services.propose({
        type: 'rotateAccessKey',
        accessKeyId,
        tenantId: tenant.id,
        secret: fresh.sealed,
        scopes: input.scopes ?? null,
        expiresAt: newExpiry(input),
        ...(boundTo === undefined ? {} : { boundTo }),
      }),
    )
    return { key, secretKey: fresh.secretKey }
  },
)

function newExpiry(input: RotateTenantKeyInput): number | null {
  if (input.expiresAt === undefined) return null
  return input.expiresAt === null ? NEVER : keyExpiry(input.expiresAt, input.now)
}
