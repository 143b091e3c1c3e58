/**
 * Identity on this node: exchanges access keys for tokens, proves tokens, makes secrets.
 *
 * Owns: the order of the checks. Knows nothing of: HTTP beyond the text of the Authorization header; scopes are
 * decided in authorize.ts.
 * Rules: a key or tenant is looked up again at every call, because a token never outlives its key; an unknown key id
 * costs the same work and gets the same answer as a wrong secret. [native: Bearer token 3] [decisions 1]
 */
import assert from 'node:assert/strict'
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Config } from '../config/types.ts'
import { Refusal } from '../base/refusal.ts'
import type { AccessKeyId, TenantId } from '../state-machine/base/record-ids.ts'
import type { AccessKeyRecord } from '../state-machine/tenants/records.ts'
import type { View } from '../state-machine/base/view.ts'
import type {
  Access,
  NewAccessKey,
  NewHook,
  NewTenantKeys,
  RateHeaders,
  SignedUrlForm,
  SignedUrlGrant,
  TemporaryGrant,
  TemporaryTerms,
  TokenGrant,
} from './access.ts'
import type { LastUsed } from './last-used.ts'
import { adminTokenHash, looksLikeAdminToken } from './admin-token.ts'
import { newAccessKeyId, newHook, newSecretFor, newTenantKeys } from './credentials.ts'
import { requireBinding } from './caller-binding.ts'
import type { MasterKey } from './master-key.ts'
import type { AccessKeyPrincipal, AdminTokenPrincipal, Circumstances, Connection } from './base/principal.ts'
import { RateLimiter, type RateStatus } from './rate-limiter.ts'
import { parseScopes } from './scopes.ts'
import { accessKeySecret } from './sealing-contexts.ts'
import type { SignedUrlPrincipal, SignedUrlTerms } from './base/signed-url.ts'
import {
  decodeSignedUrl,
  encodeSignedUrl,
  SIGNED_URL_TOKEN_CHARS_MAX,
  type SignedUrlClaims,
} from './signed-url-token.ts'
import { decodeTemporary, encodeTemporary, narrowed, temporaryScopes } from './temporary-token.ts'
import { decodeToken, encodeToken } from './token.ts'
import { keyEnd } from '../state-machine/tenants/callers.ts'
import { adminTokenByHash } from '../state-machine/tenants/admin-tokens.ts'
import { tenantKeys } from '../state-machine/tenants/keys.ts'

const CALLERS_MAX = 10_000
const SIGNED_URL_TTL_SECONDS = 900
/** Replaces a key that does not exist; no client knows its secret. */
const NO_KEY: AccessKeyId = 'AKNOBODY'
const TEMPORARY_TTL_SECONDS = 3_600
const NOWHERE = { address: '', certificate: null }
/** Text from outside becomes part of a row key; nothing else than this is looked up. */
const LOOKS_LIKE_KEY_ID = /^[A-Z0-9]{1,64}$/

export interface NativeAccessParts {
  readonly masterKey: MasterKey
  readonly state: View
  readonly config: Pick<Config, 'security' | 'limits'>
  readonly uses: LastUsed
  /** Milliseconds since 1970 UTC. */
  readonly now: () => number
}

export class NativeAccess implements Access {
  readonly #parts: NativeAccessParts
  readonly #noKey: NewAccessKey
  /** Of exchanges that succeed, by key: no other client can use them up. */
  readonly #mints: RateLimiter
  /** Of exchanges that fail, by the id that was given, known or not, and by address. */
  readonly #failures: RateLimiter
  readonly adminRequests: RateLimiter

  constructor(parts: NativeAccessParts) {
    const { masterKey, config, now } = parts
    const { tokenMintPerMinute, tokenMintBurst, adminRequestsPerMinute, adminRequestsBurst } = config.limits
    const mints = { perMinute: tokenMintPerMinute, burst: tokenMintBurst, callersMax: CALLERS_MAX }
    const admin = { perMinute: adminRequestsPerMinute, burst: adminRequestsBurst, callersMax: CALLERS_MAX }
    this.#parts = parts
    this.#noKey = newSecretFor(NO_KEY, masterKey)
    this.#mints = new RateLimiter(mints, now)
    this.#failures = new RateLimiter(mints, now)
    this.adminRequests = new RateLimiter({ ...admin, isShared: true }, now)
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
    return this.#grant(record)
  }

  authenticateBearer(authorization: string | undefined, connection: Connection): AccessKeyPrincipal {
    const { masterKey } = this.#parts
    const token = bearerOf(authorization)
    const temporary = decodeTemporary(token, masterKey.verifyingKeys('temporary-token'))
    const claims = temporary ?? decodeToken(token, masterKey.verifyingKeys('native-api-token'))
    if (claims === null) throw new Refusal('token_invalid', 'The bearer token is not valid')
    const at = this.#parts.now()
    if (at >= claims.exp * 1000) {
      throw new Refusal('token_expired', `The bearer token expired at ${timeText(claims.exp * 1000)}`)
    }
    const record = this.#parts.state.get(tenantKeys.accessKey(claims.ak))
    if (record === undefined || record.tenantId !== claims.tid) {
      throw new Refusal('token_invalid', 'The bearer token does not belong to an access key of this cluster')
    }
    this.#requireLive(record)
    if (record.version !== claims.kv) {
      throw new Refusal(
        'token_invalid',
        `The bearer token is from before the rotation of '${record.accessKeyId}'`,
      )
    }
    const principal = this.#bound(record, { ...connection, at })
    this.#parts.uses.noteKey(record, at)
    return temporary === null ? principal : narrowed(principal, temporary)
  }

  /** The key is looked at again: the body of the request was in flight since the caller proved it. */
  temporaryToken(principal: AccessKeyPrincipal, terms: TemporaryTerms): TemporaryGrant {
    const { accessKeyId: ak, tenantId: tid, keyVersion: kv, session } = principal
    if (session !== undefined)
      throw new Refusal('access_denied', `The temporary credential of session '${session.name}' makes no other`)
    const record = this.#parts.state.get(tenantKeys.accessKey(ak))
    if (record?.version !== kv)
      throw new Refusal('token_invalid', `The bearer token is from before the rotation of '${ak}'`)
    this.#requireLive(record)
    const scopes = temporaryScopes(record, terms)
    const now = this.#parts.now()
    const ttlMs = Math.min(
      (terms.ttlSeconds ?? TEMPORARY_TTL_SECONDS) * 1000,
      this.#parts.config.security.maxTemporaryTtlMs,
    )
    const iat = Math.floor(now / 1000)
    const exp = Math.max(Math.floor(Math.min(now + ttlMs, record.expiresAt ?? Infinity) / 1000), iat + 1)
    const jti = randomBytes(9).toString('base64url')
    const claims = {
      v: 1,
      typ: 'tmp',
      ak,
      kv,
      tid,
      iat,
      exp,
      jti,
      scp: scopes,
      sn: terms.sessionName,
    } as const
    const token = encodeTemporary(claims, this.#parts.masterKey.signingKey('temporary-token'))
    return {
      token,
      expiresAt: exp * 1000,
      expiresInSeconds: exp - iat,
      accessKeyId: ak,
      tenantId: tid,
      scopes,
    }
  }

  authenticateSignedUrl(token: string | undefined, connection: Connection): SignedUrlPrincipal {
    const claims = this.#signedUrlClaims(token)
    if (this.#parts.now() >= claims.expiresAt)
      throw new Refusal('signed_url_expired', `The signed URL expired at ${timeText(claims.expiresAt)}`)
    const key = this.#keyOf(claims)
    const holder = this.#holder(key, claims, connection)
    this.#parts.uses.noteKey(key, this.#parts.now())
    return holder
  }

  holderOfSignedUrl(token: string | undefined, connection: Connection): SignedUrlPrincipal | null {
    try {
      const claims = this.#signedUrlClaims(token)
      return this.#holder(this.#keyOf(claims), claims, connection)
    } catch (error) {
      if (error instanceof Refusal) return null
      throw error
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
    if (claims === null) throw new Refusal('invalid_signed_url', 'The token of the signed URL is not valid')
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
    requireBinding(record.boundTo, connection, holder)
    return holder
  }

  /** Throws Refusal access_denied where the key may not be used from there. */
  #bound(record: AccessKeyRecord, circumstances: Circumstances): AccessKeyPrincipal {
    const principal = { ...principalOf(record, circumstances), signedUrl: null }
    requireBinding(record.boundTo, circumstances, principal)
    return principal
  }

  /** The key is looked at again: the body of the request was in flight since the caller proved it. */
  signUrl(
    principal: AccessKeyPrincipal,
    terms: SignedUrlTerms,
    { ttlSeconds, isHolderHidden }: SignedUrlForm,
  ): SignedUrlGrant {
    const { accessKeyId: ak, tenantId: tid, keyVersion: kv } = principal
    const { masterKey, state, config } = this.#parts
    assert(principal.signedUrl === null, 'a URL makes no other URLs')
    if (principal.session !== undefined)
      throw new Refusal(
        'access_denied',
        `The temporary credential of session '${principal.session.name}' signs no URLs`,
      )
    const record = state.get(tenantKeys.accessKey(ak))
    if (record?.version !== kv)
      throw new Refusal('token_invalid', `The bearer token is from before the rotation of '${ak}'`)
    this.#requireLive(record)
    const now = this.#parts.now()
    const ttlMs = Math.min((ttlSeconds ?? SIGNED_URL_TTL_SECONDS) * 1000, config.security.maxPresignTtlMs)
    const expiresAt = Math.min(now + Math.floor(ttlMs), record.expiresAt ?? Infinity)
    const jti = randomBytes(9).toString('base64url')
    const v = isHolderHidden ? 2 : 1
    const claims = { v, typ: 'url', ak, kv, tid, jti, expiresAt, ...terms } as const
    const token = encodeSignedUrl(claims, {
      signing: masterKey.signingKey('signed-url'),
      holder: masterKey.signingKey('signed-url-holder'),
    })
    if (token.length > SIGNED_URL_TOKEN_CHARS_MAX)
      throw new Refusal(
        'invalid_request',
        `The token of this URL would have ${token.length} characters, at most ${SIGNED_URL_TOKEN_CHARS_MAX}: control characters count sixfold, shorten what holds them`,
      )
    return { token, jti, expiresAt, ttlSeconds: Math.floor((expiresAt - now) / 1000) }
  }

  authenticateAdmin(authorization: string | undefined, connection: Connection): AdminTokenPrincipal {
    const token = bearerOf(authorization)
    const record = looksLikeAdminToken(token)
      ? adminTokenByHash(this.#parts.state, adminTokenHash(token))
      : undefined
    if (record === undefined) throw new Refusal('token_invalid', 'The admin token is not valid')
    if (record.revokedAt !== null) {
      throw new Refusal('token_invalid', `Admin token '${record.tokenId}' was revoked`)
    }
    if (record.expiresAt !== null && this.#parts.now() >= record.expiresAt) {
      throw new Refusal(
        'token_expired',
        `Admin token '${record.tokenId}' expired at ${timeText(record.expiresAt)}`,
      )
    }
    take(this.adminRequests, record.tokenId)
    const { tokenId, role, tenantId, noKeys = false } = record
    const principal = { kind: 'adminToken', tokenId, role, noKeys, tenantId } as const
    requireBinding(record.boundTo, connection, principal, this.rateHeadersOf(principal))
    this.#parts.uses.noteToken(record, this.#parts.now())
    return principal
  }

  rateHeadersOf({ tokenId }: AdminTokenPrincipal): RateHeaders {
    return rateHeaders(this.adminRequests, this.adminRequests.rateStatus(tokenId))
  }

  newAccessKey(): NewAccessKey {
    return this.newSecret(newAccessKeyId())
  }

  newSecret(accessKeyId: AccessKeyId): NewAccessKey {
    return newSecretFor(accessKeyId, this.#parts.masterKey)
  }

  newTenantKeys(tenantId: TenantId): NewTenantKeys {
    return newTenantKeys(tenantId, this.#parts.masterKey)
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
  #requireLive(record: AccessKeyRecord, name = `access key '${record.accessKeyId}'`): void {
    const end = keyEnd(this.#parts.state, record, this.#parts.now())
    if (end === null) return
    if (end === 'tenant_disabled') throw new Refusal('tenant_disabled', `The tenant of ${name} is disabled`)
    const key = `${name.charAt(0).toUpperCase()}${name.slice(1)}`
    const how = end === 'revoked' ? 'was revoked' : `expired at ${timeText(record.expiresAt ?? 0)}`
    throw new Refusal('key_revoked', `${key} ${how}`)
  }

  #grant(record: AccessKeyRecord): TokenGrant {
    const { accessKeyId, tenantId, version } = record
    const now = this.#parts.now()
    const end = Math.min(now + this.#parts.config.security.nativeApiTokenTtlMs, record.expiresAt ?? Infinity)
    const iat = Math.floor(now / 1000)
    // At least one second, so that a short remainder of a key's life does not give a token that is dead on arrival.
    const exp = Math.max(Math.floor(end / 1000), iat + 1)
    const jti = randomBytes(9).toString('base64url')
    const token = encodeToken(
      { v: 1, typ: 'api', ak: accessKeyId, kv: version, tid: tenantId, iat, exp, jti },
      this.#parts.masterKey.signingKey('native-api-token'),
    )
    return { token, expiresAt: exp * 1000, expiresInSeconds: exp - iat, accessKeyId, tenantId }
  }
}

/** As the key is now, regardless of what it was when the token was made. */
function principalOf(
  record: AccessKeyRecord,
  circumstances: Circumstances,
): Omit<AccessKeyPrincipal, 'signedUrl'> {
  const { accessKeyId, tenantId, version: keyVersion, scopes } = record
  return {
    kind: 'accessKey',
    accessKeyId,
    tenantId,
    keyVersion,
    scopes: parseScopes(scopes),
    circumstances,
  }
}

function bearerOf(authorization: string | undefined): string {
  const token = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
  if (token === undefined)
    throw new Refusal('unauthorized', 'The request needs an Authorization header with a bearer token')
  return token
}

function take(limiter: RateLimiter, caller: string): void {
  const waitMs = limiter.take(caller)
  if (waitMs === null) return
  throw new Refusal('rate_limited', `More than ${limiter.limits.perMinute} requests a minute`, {
    retryAfterSeconds: Math.ceil(waitMs / 1000),
    headers: rateHeaders(limiter, { left: 0, nextMs: waitMs }),
  })
}

/** As the draft of the IETF on RateLimit header fields names them. [decisions 1] */
function rateHeaders({ limits }: RateLimiter, { left, nextMs }: RateStatus): RateHeaders {
  return {
    'ratelimit-policy': `"default";q=${limits.perMinute};w=60;burst=${limits.burst}`,
    ratelimit: `"default";r=${left};t=${Math.ceil(nextMs / 1000)}`,
  }
}

/** Equal lengths for the constant-time comparison, regardless of the given text. */
function digest(text: Uint8Array | string): Buffer {
  return createHash('sha256').update(text).digest()
}

function timeText(ms: number): string {
  return new Date(ms).toISOString()
}
