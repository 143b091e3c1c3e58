/**
 * The port of identity: who is asking, and the making of secrets.
 *
 * Owns: what operations and the edge may ask of src/access. Authorization itself is the one function `authorize`
 * in authorize.ts. Rule: every call decides from the state as it is now; the caller has passed a read barrier.
 */
import type { AccessKeyId, HookId } from '../state-machine/records.ts'
import type { AccessKeyPrincipal, AdminTokenPrincipal } from './principal.ts'

export interface TokenGrant {
  /** svctk_<base64url(payload)>.<base64url(mac)> [native: Bearer token 2] */
  readonly token: string
  readonly expiresAt: number
  readonly expiresInSeconds: number
  readonly accessKeyId: AccessKeyId
  readonly tenantId: string
}

export interface NewAccessKey {
  readonly accessKeyId: AccessKeyId
  /** Shown once, never stored. */
  readonly secretKey: string
  /** The secret sealed under the master key, for the record. */
  readonly sealed: Uint8Array
}

export interface NewTenantKeys {
  readonly dataKey: Uint8Array
  readonly dedupKey: Uint8Array
  readonly masterKeyId: string
}

export interface NewHook {
  readonly hookId: HookId
  /** `whsec_` and base64; shown once, never stored. */
  readonly signingSecret: string
  readonly sealed: Uint8Array
}

export interface Access {
  /** Throws Refusal invalid_credentials, key_revoked, tenant_disabled, rate_limited. */
  exchange(input: {
    readonly accessKeyId: string
    readonly secretKey: string
    readonly clientAddress: string
  }): TokenGrant
  /** The Authorization header as received. Throws Refusal unauthorized, token_invalid, token_expired, key_revoked, tenant_disabled. */
  authenticateBearer(authorization: string | undefined): AccessKeyPrincipal
  /** Throws Refusal unauthorized, token_invalid, token_expired, rate_limited. */
  authenticateAdmin(authorization: string | undefined): AdminTokenPrincipal
  newAccessKey(): NewAccessKey
  /** A fresh secret for an existing key id (rotation). */
  newSecret(accessKeyId: AccessKeyId): NewAccessKey
  newTenantKeys(tenantId: string): NewTenantKeys
  newHook(): NewHook
}
