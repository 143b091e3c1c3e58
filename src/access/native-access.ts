/**
 * Identity on this node: exchanges access keys for tokens, proves tokens, makes secrets.
 *
 * Owns: the order of the checks. Knows nothing of: HTTP beyond the text of the Authorization header; scopes are
 * decided in authorize.ts, what is made in minting.ts.
 * Rules: a key or tenant is looked up again at every call, because a token never outlives its key; an unknown key id
 * costs the same work and gets the same answer as a wrong secret. [native: Bearer token 3] [decisions 1]
 */
import assert from 'node:assert/strict'
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Config } from '../config/types.ts'
import type { MetricSample } from '../../cluster/index.ts'
import { Refusal } from '../base/refusal.ts'
import type { AccessKeyId, TenantId } from '../state-machine/base/record-ids.ts'
import type { AccessKeyRecord } from '../state-machine/tenants/records.ts'
import type { View } from '../state-machine/base/view.ts'
import type {
  Access,
  NewAccessKey,
  NewHook,
  NewTenantKeys,
  OpenedUrl,
  Proof,
  RateHeaders,
  RequestSigner,
  SignedUrlForm,
  SignedUrlGrant,
  TemporaryGrant,
  TemporaryTerms,
  TokenGrant,
} from './access.ts'
import { AccessCounts } from './access-counts.ts'
import type { LastUsed } from './last-used.ts'
import { AdminAccess } from './admin-access.ts'
import { bearerOf } from './bearer.ts'
import { newAccessKeyId, newHook, newSecretFor, newTenantKeys } from './credentials.ts'
import { type BindingRefusal, bindingRefusal } from './caller-binding.ts'
import { principalOf, requireLive } from './live-key.ts'
import type { MasterKey } from './master-key.ts'
import { type Mint, signedUrlGrant, temporaryGrant, tokenGrant } from './minting.ts'
import type { AccessKeyPrincipal, AdminTokenPrincipal, Circumstances, Connection } from './base/principal.ts'
import { RateLimiter } from './rate-limiter.ts'
import { take } from './rate-refusal.ts'
import { ProvedTokens } from './proved-tokens.ts'
import { accessKeySecret } from './sealing-contexts.ts'
import type { SignedUrlPrincipal, SignedUrlTerms } from './base/signed-url.ts'
import { LOOKS_LIKE_KEY_ID, SignatureAccess } from './signature-access.ts'
import type { SignedPolicy } from './signature-v4/signed-policy.ts'
import type { SignedRequest } from './signature-v4/signed-request.ts'
import { decodeSignedUrl, type SignedUrlClaims } from './signed-url-token.ts'
import { narrowed, type TemporaryClaims } from './temporary-token.ts'
import type { TokenClaims } from './token.ts'
import { tenantKeys } from '../state-machine/tenants/keys.ts'

const CALLERS_MAX = 10_000
/** Replaces a key that does not exist; no client knows its secret. */
const NO_KEY: AccessKeyId = 'AKNOBODY'
type BearerClaims = Pick<TokenClaims | TemporaryClaims, 'ak' | 'kv' | 'tid' | 'exp'>

const NOWHERE = { address: '', certificate: null }

export interface NativeAccessParts {
  readonly masterKey: MasterKey
  readonly state: View
  readonly config: Pick<Config, 'security' | 'limits'>
  readonly uses: LastUsed
  /** Milliseconds since 1970 UTC. */
  readonly now: () => number
  /** Throws while the master key may be another than that of the cluster, which signed the tokens; absent: it is known to be the same. */
  readonly requireKey?: () => void
}

export class NativeAccess implements Access {
  readonly #parts: NativeAccessParts
  readonly #noKey: NewAccessKey
  readonly #counts = new AccessCounts()
  /** Of exchanges that succeed, by key: no other client can use them up. */
  readonly #mints: RateLimiter
  /** Of exchanges that fail, by the id that was given, known or not, and by address. */
  readonly #failures: RateLimiter
  readonly #signatures: SignatureAccess
  readonly #tokens: ProvedTokens
  readonly #admin: AdminAccess
  readonly adminRequests: RateLimiter

  constructor(parts: NativeAccessParts) {
    const { masterKey, config, now } = parts
    const { tokenMintPerMinute, tokenMintBurst, adminRequestsPerMinute, adminRequestsBurst } = config.limits
    const mints = { perMinute: tokenMintPerMinute, burst: tokenMintBurst, callersMax: CALLERS_MAX }
    const admin = { perMinute: adminRequestsPerMinute, burst: adminRequestsBurst, callersMax: CALLERS_MAX }
    this.#parts = parts
    this.#tokens = new ProvedTokens(masterKey)
    this.#noKey = newSecretFor(NO_KEY, masterKey)
    this.#signatures = new SignatureAccess({
      ...parts,
      holderOf: (record, connection) => this.#holderOf(record, connection),
    })
    this.#mints = new RateLimiter(mints, now)
    this.#failures = new RateLimiter(mints, now)
    this.adminRequests = new RateLimiter({ ...admin, isShared: true }, now)
    const requireBinding = (refusal: BindingRefusal | null): void => this.#requireBinding(refusal)
    this.#admin = new AdminAccess({ ...parts, requests: this.adminRequests, requireBinding })
  }

  /**
   * The secret decides first, so that failures of others never refuse its holder; and what a failure is answered never depends on whether the
   * key exists: both kinds of failures are counted alike. [record 40]
   */
  exchange(input: Parameters<Access['exchange']>[0]): TokenGrant {
    const id = LOOKS_LIKE_KEY_ID.test(input.accessKeyId) ? input.accessKeyId : ''
    const record = id === '' ? undefined : this.#parts.state.get(tenantKeys.accessKey(id))
    if (!this.#secretMatches(record, input.secretKey) || record === undefined) {
      take(this.#failures, `${id} ${input.clientAddress}`)
      throw new Refusal('invalid_credentials', 'The access key id or the secret key is wrong')
    }
    take(this.#mints, record.accessKeyId)
    this.#requireLive(record)
    const at = this.#parts.now()
    this.#bound(record, { ...(input.connection ?? NOWHERE), isSecure: false, at })
    this.#parts.uses.noteKey(record, at)
    return tokenGrant(record, this.#mint())
  }

  openBearer(authorization: string | undefined): Proof<AccessKeyPrincipal> {
    const claims = this.#tokens.claimsOf(bearerOf(authorization))
    if (claims === null) {
      this.#parts.requireKey?.()
      throw new Refusal('token_invalid', 'The bearer token is not valid')
    }
    if (claims.typ === 'tmp') {
      this.#counts.using(() => this.#requireUnexpired(claims))
      return (connection) => this.#counts.using(() => narrowed(this.#bearer(claims, connection), claims))
    }
    this.#requireUnexpired(claims)
    return (connection) => this.#bearer(claims, connection)
  }

  #bearer(claims: BearerClaims, connection: Connection): AccessKeyPrincipal {
    this.#requireUnexpired(claims)
    const record = this.#parts.state.get(tenantKeys.accessKey(claims.ak))
    if (record === undefined || record.tenantId !== claims.tid) {
      throw new Refusal('token_invalid', 'The bearer token does not belong to an access key of this cluster')
    }
    this.#requireLive(record)
    if (record.version !== claims.kv) throw beforeRotation(record.accessKeyId)
    return this.#holderOf(record, connection)
  }

  /** The secret of the key is proved. Throws Refusal key_revoked, tenant_disabled, access_denied. */
  #holderOf(record: AccessKeyRecord, connection: Connection): AccessKeyPrincipal {
    this.#requireLive(record)
    const at = this.#parts.now()
    const principal = this.#bound(record, { ...connection, at })
    this.#parts.uses.noteKey(record, at)
    return principal
  }

  #requireUnexpired({ exp }: BearerClaims): void {
    if (this.#parts.now() >= exp * 1000)
      throw new Refusal('token_expired', `The bearer token expired at ${timeText(exp * 1000)}`)
  }

  temporaryToken(principal: AccessKeyPrincipal, terms: TemporaryTerms): TemporaryGrant {
    return this.#counts.making(() => {
      if (principal.session !== undefined)
        throw new Refusal(
          'access_denied',
          `The temporary credential of session '${principal.session.name}' makes no other`,
        )
      return temporaryGrant(this.#stillGood(principal), terms, this.#mint())
    })
  }

  /** The key is looked at again: the body of the request was in flight since the caller proved it. */
  #stillGood({ accessKeyId, keyVersion }: AccessKeyPrincipal): AccessKeyRecord {
    const record = this.#parts.state.get(tenantKeys.accessKey(accessKeyId))
    if (record?.version !== keyVersion) throw beforeRotation(accessKeyId)
    this.#requireLive(record)
    return record
  }

  #mint(): Mint {
    const { masterKey, config, now } = this.#parts
    return { masterKey, security: config.security, now: now() }
  }

  openSignedUrl(token: string | undefined): OpenedUrl {
    const claims = this.#signedUrlClaims(token)
    return {
      holder: (connection) => {
        if (this.#parts.now() >= claims.expiresAt)
          throw new Refusal('signed_url_expired', `The signed URL expired at ${timeText(claims.expiresAt)}`)
        const key = this.#keyOf(claims)
        const holder = this.#holder(key, claims, connection)
        this.#parts.uses.noteKey(key, this.#parts.now())
        return holder
      },
      formerHolder: (connection) => {
        try {
          return this.#holder(this.#keyOf(claims), claims, connection)
        } catch (error) {
          if (error instanceof Refusal) return null
          throw error
        }
      },
    }
  }

  #signedUrlClaims(token: string | undefined): SignedUrlClaims {
    if (token === undefined)
      throw new Refusal('invalid_signed_url', 'This path needs the query parameter "token" of a signed URL')
    const { masterKey } = this.#parts
    const holders = masterKey.verifyingKeys('signed-url-holder')
    const keys = masterKey.verifyingKeys('signed-url').flatMap((signing, n) => {
      const holder = holders[n]
      return holder === undefined ? [] : [{ signing, holder }]
    })
    const claims = decodeSignedUrl(token, keys)
    if (claims === null) {
      this.#parts.requireKey?.()
      throw new Refusal('invalid_signed_url', 'The token of the signed URL is not valid')
    }
    return claims
  }

  #keyOf({ ak, kv, tid }: SignedUrlClaims): AccessKeyRecord {
    const record = this.#parts.state.get(tenantKeys.accessKey(ak))
    if (record === undefined || record.tenantId !== tid)
      throw new Refusal(
        'invalid_signed_url',
        'The signed URL does not belong to an access key of this cluster',
      )
    // The holder of a link does not learn whose key made it.
    this.#requireLive(record, 'the access key of this signed URL')
    if (record.version !== kv)
      throw new Refusal('invalid_signed_url', 'The signed URL is from before the rotation of its access key')
    return record
  }

  #holder(record: AccessKeyRecord, claims: SignedUrlClaims, connection: Connection): SignedUrlPrincipal {
    const { v: _v, typ: _typ, ak: _ak, kv: _kv, tid: _tid, expiresAt: _expiresAt, ...signedUrl } = claims
    const holder = { ...principalOf(record, { ...connection, at: this.#parts.now() }), signedUrl }
    this.#requireBinding(bindingRefusal(record.boundTo, connection, holder))
    return holder
  }

  /** Throws Refusal access_denied where the key may not be used from there. */
  #bound(record: AccessKeyRecord, circumstances: Circumstances): AccessKeyPrincipal {
    const principal = { ...principalOf(record, circumstances), signedUrl: null }
    this.#requireBinding(bindingRefusal(record.boundTo, circumstances, principal))
    return principal
  }

  #requireBinding(refusal: BindingRefusal | null): void {
    if (refusal === null) return
    this.#counts.refusedBinding(refusal)
    throw refusal
  }

  signUrl(principal: AccessKeyPrincipal, terms: SignedUrlTerms, form: SignedUrlForm): SignedUrlGrant {
    assert(principal.signedUrl === null, 'a URL makes no other URLs')
    if (principal.session !== undefined)
      throw new Refusal(
        'access_denied',
        `The temporary credential of session '${principal.session.name}' signs no URLs`,
      )
    return signedUrlGrant(this.#stillGood(principal), terms, form, this.#mint())
  }

  openSignature(signed: SignedRequest): Proof<RequestSigner> {
    return this.#signatures.openSignature(signed)
  }

  openPolicy(signed: SignedPolicy): Proof<AccessKeyPrincipal> {
    return this.#signatures.openPolicy(signed)
  }

  openAdmin(authorization: string | undefined): Proof<AdminTokenPrincipal> {
    return this.#admin.open(authorization)
  }

  openSession(secret: string): Proof<AdminTokenPrincipal> {
    return this.#admin.openSession(secret)
  }

  answered(refusal: Refusal): void {
    this.#counts.answered(refusal)
  }

  samples(): readonly MetricSample[] {
    return this.#counts.samples()
  }

  adminNow(principal: AdminTokenPrincipal): AdminTokenPrincipal {
    return this.#admin.now(principal)
  }

  rateHeadersOf(principal: AdminTokenPrincipal): RateHeaders {
    return this.#admin.rateHeadersOf(principal)
  }

  newAccessKey(): NewAccessKey {
    return this.newSecret(newAccessKeyId())
  }

  newSecret(accessKeyId: AccessKeyId): NewAccessKey {
    return newSecretFor(accessKeyId, this.#parts.masterKey)
  }

  newTenantKeys(tenantId: TenantId, version?: number): NewTenantKeys {
    return newTenantKeys(tenantId, this.#parts.masterKey, version)
  }

  newHook(): NewHook {
    return newHook(this.#parts.masterKey)
  }

  #secretMatches(record: AccessKeyRecord | undefined, secretKey: string): boolean {
    const { accessKeyId, sealed } = record ? { ...record, sealed: record.secret } : this.#noKey
    const expected = this.#parts.masterKey.open(sealed, accessKeySecret(accessKeyId))
    return timingSafeEqual(digest(expected), digest(secretKey))
  }

  /** `name`: what the message calls the key; links do not name it. */
  #requireLive(record: AccessKeyRecord, name?: string): void {
    requireLive(this.#parts.state, record, this.#parts.now(), name)
  }
}

function beforeRotation(accessKeyId: AccessKeyId): Refusal {
  return new Refusal('token_invalid', `The bearer token is from before the rotation of '${accessKeyId}'`)
}

/** Equal lengths for the constant-time comparison, regardless of the given text. */
function digest(text: Uint8Array | string): Buffer {
  return createHash('sha256').update(text).digest()
}

function timeText(ms: number): string {
  return new Date(ms).toISOString()
}
