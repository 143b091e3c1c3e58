/**
 * The port of identity: who is asking, and the making of secrets.
 *
 * Owns: what operations and the edge may ask of src/access. Authorization itself is the one function `authorize`
 * in authorize.ts. Rule: every call decides from the state as it is now; the caller has passed a read barrier, but for the `open` methods, which look
 * at nothing but the credential.
 */
import type { Refusal } from '../base/refusal.ts'
import type { AccessKeyId, HookId } from '../state-machine/base/record-ids.ts'
import type { AccessKeyPrincipal, AdminTokenPrincipal, Connection } from './base/principal.ts'
import type { SignedUrlPrincipal, SignedUrlTerms } from './base/signed-url.ts'
import type { SignedPolicy } from './signature-v4/signed-policy.ts'
import type { SignedRequest } from './signature-v4/signed-request.ts'
import type { Signing } from './signature-v4/signing-key.ts'

export interface TokenGrant {
  /** svctk_<base64url(payload)>.<base64url(mac)> [native: Bearer token 2] */
  readonly token: string
  readonly expiresAt: number
  readonly expiresInSeconds: number
  readonly accessKeyId: AccessKeyId
  readonly tenantId: string
}

export interface TemporaryTerms {
  /** undefined: all that the key may do. */
  readonly scopes: string | undefined
  readonly sessionName: string
  /** undefined: the default. It is cut to what the deployment allows and to the life of the key. */
  readonly ttlSeconds: number | undefined
}

export interface TemporaryGrant extends TokenGrant {
  /** svctmp_<base64url(payload)>.<base64url(mac)> */
  readonly token: string
  readonly scopes: string
}

export interface SignedUrlGrant {
  /** svcurl_<base64url(payload)>.<base64url(mac)> [native: Signed URL token 1] */
  readonly token: string
  /** What it is called where it is not to be shown. */
  readonly jti: string
  readonly expiresAt: number
  /** After clamping. */
  readonly ttlSeconds: number
}

export interface SignedUrlForm {
  /** null: the default. */
  readonly ttlSeconds: number | null
  /** Whether access key and tenant are encrypted in it. False: as versions below feature level 4 can read it. */
  readonly isHolderHidden: boolean
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

/** Of an answer: what is allowed, and what of it is left. */
export type RateHeaders = Readonly<Record<'ratelimit-policy' | 'ratelimit', string>>

/**
 * The rest of a proof: whose a credential is that says by itself that this cluster made it. It asks the state, so it follows a read barrier; what is
 * refused before it costs the cluster nothing.
 */
export type Proof<P> = (connection: Connection) => P

export interface OpenedUrl {
  /** Throws Refusal invalid_signed_url, signed_url_expired, key_revoked, tenant_disabled, access_denied. */
  readonly holder: Proof<SignedUrlPrincipal>
  /** The same of a URL that may have expired; null where it is not good. For what is said of a refusal, never for what is done. */
  readonly formerHolder: Proof<SignedUrlPrincipal | null>
}

/** Who signed a request of the S3 API, and with what the chunks of its body are signed. */
export interface RequestSigner {
  readonly principal: AccessKeyPrincipal
  readonly signing: Signing
}

export interface Access {
  /** Throws Refusal invalid_credentials, key_revoked, tenant_disabled, access_denied, rate_limited. */
  exchange(input: {
    readonly accessKeyId: string
    readonly secretKey: string
    /** Or its network: its failures are counted by it. */
    readonly clientAddress: string
    /** Absent: nothing is known of it, so a key that is bound is refused. */
    readonly connection?: Pick<Connection, 'address' | 'certificate'>
  }): TokenGrant
  /** The Authorization header as received. Throws Refusal unauthorized, token_invalid, token_expired; the proof also key_revoked, tenant_disabled, access_denied. */
  openBearer(authorization: string | undefined): Proof<AccessKeyPrincipal>
  /** The `token` of the query. Throws Refusal invalid_signed_url. */
  openSignedUrl(token: string | undefined): OpenedUrl
  /** Throws Refusal token_invalid, key_revoked, tenant_disabled, invalid_request. */
  signUrl(principal: AccessKeyPrincipal, terms: SignedUrlTerms, form: SignedUrlForm): SignedUrlGrant
  /**
   * A request that is signed with version 4. Throws SignatureFault for its time; the proof also for an unknown key and a wrong signature, and Refusal
   * key_revoked, tenant_disabled, access_denied.
   */
  openSignature(signed: SignedRequest): Proof<RequestSigner>
  /** The same of the policy of a browser form; when the policy ends is for its reader. */
  openPolicy(signed: SignedPolicy): Proof<AccessKeyPrincipal>
  /** Throws Refusal unauthorized, token_invalid; the proof also token_expired, access_denied, rate_limited. */
  openAdmin(authorization: string | undefined): Proof<AdminTokenPrincipal>
  /** The secret of a session, from the cookie of a browser. Throws as `openAdmin` does. */
  openSession(secret: string): Proof<AdminTokenPrincipal>
  /** Of a caller that was proved before, what its row says now; takes nothing from its rate. Throws Refusal token_invalid, token_expired. */
  adminNow(principal: AdminTokenPrincipal): AdminTokenPrincipal
  /** Throws Refusal access_denied, invalid_argument, token_invalid, key_revoked, tenant_disabled. */
  temporaryToken(principal: AccessKeyPrincipal, terms: TemporaryTerms): TemporaryGrant
  /** A refusal of its own that ends a request, once for each request: it is counted. */
  answered(refusal: Refusal): void
  rateHeadersOf(principal: AdminTokenPrincipal): RateHeaders
  newAccessKey(): NewAccessKey
  /** A fresh secret for an existing key id (rotation). */
  newSecret(accessKeyId: AccessKeyId): NewAccessKey
  /** `version`: of the data key; absent: 1. */
  newTenantKeys(tenantId: string, version?: number): NewTenantKeys
  newHook(): NewHook
}
