/**
 * Tokens, temporary credentials and signed URLs of an access key that was proved and is good.
 *
 * Owns: what each claims, and how long it lives. Knows nothing of: who asks, requests.
 * Rule: none outlives its key, or what the deployment allows.
 */
import { randomBytes } from 'node:crypto'
import { Refusal } from '../base/refusal.ts'
import type { Config } from '../config/types.ts'
import type { AccessKeyRecord } from '../state-machine/tenants/records.ts'
import type { SignedUrlForm, SignedUrlGrant, TemporaryGrant, TemporaryTerms, TokenGrant } from './access.ts'
import type { SignedUrlTerms } from './base/signed-url.ts'
import type { MasterKey } from './master-key.ts'
import { encodeSignedUrl, SIGNED_URL_TOKEN_CHARS_MAX } from './signed-url-token.ts'
import { encodeTemporary, temporaryScopes } from './temporary-token.ts'
import { encodeToken } from './token.ts'

const TEMPORARY_TTL_SECONDS = 3_600
const SIGNED_URL_TTL_SECONDS = 900

export interface Mint {
  readonly masterKey: MasterKey
  readonly security: Config['security']
  /** Milliseconds since 1970 UTC. */
  readonly now: number
}

export function tokenGrant(record: AccessKeyRecord, { masterKey, security, now }: Mint): TokenGrant {
  const life = lifeOf(record, security.nativeApiTokenTtlMs, now)
  const claims = { v: 1, typ: 'api', ...holderOf(record), ...life, jti: newId() } as const
  const token = encodeToken(claims, masterKey.signingKey('native-api-token'))
  return grant(token, record, life)
}

/** Throws Refusal invalid_argument, access_denied. */
export function temporaryGrant(
  record: AccessKeyRecord,
  terms: TemporaryTerms,
  { masterKey, security, now }: Mint,
): TemporaryGrant {
  const { sessionName: sn, ttlSeconds = TEMPORARY_TTL_SECONDS } = terms
  const scopes = temporaryScopes(record, terms)
  const life = lifeOf(record, Math.min(ttlSeconds * 1000, security.maxTemporaryTtlMs), now)
  const claims = { v: 1, typ: 'tmp', ...holderOf(record), ...life, jti: newId(), scp: scopes, sn } as const
  const token = encodeTemporary(claims, masterKey.signingKey('temporary-token'))
  return { ...grant(token, record, life), scopes }
}

/** Throws Refusal invalid_request. */
export function signedUrlGrant(
  record: AccessKeyRecord,
  terms: SignedUrlTerms,
  { ttlSeconds, isHolderHidden }: SignedUrlForm,
  { masterKey, security, now }: Mint,
): SignedUrlGrant {
  const ttlMs = Math.min((ttlSeconds ?? SIGNED_URL_TTL_SECONDS) * 1000, security.maxPresignTtlMs)
  const expiresAt = Math.min(now + Math.floor(ttlMs), record.expiresAt ?? Infinity)
  const jti = newId()
  const v = isHolderHidden ? 2 : 1
  const claims = { v, typ: 'url', ...holderOf(record), jti, expiresAt, ...terms } as const
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

/** Whole seconds since 1970. */
interface Life {
  readonly iat: number
  readonly exp: number
}

/** At least one second, so that a short remainder of a key's life does not give a token that is dead on arrival. */
function lifeOf({ expiresAt }: AccessKeyRecord, ttlMs: number, now: number): Life {
  const iat = Math.floor(now / 1000)
  const end = Math.floor(Math.min(now + ttlMs, expiresAt ?? Infinity) / 1000)
  return { iat, exp: Math.max(end, iat + 1) }
}

function holderOf({ accessKeyId: ak, version: kv, tenantId: tid }: AccessKeyRecord) {
  return { ak, kv, tid }
}

function grant(token: string, { accessKeyId, tenantId }: AccessKeyRecord, { iat, exp }: Life): TokenGrant {
  return { token, expiresAt: exp * 1000, expiresInSeconds: exp - iat, accessKeyId, tenantId }
}

function newId(): string {
  return randomBytes(9).toString('base64url')
}
