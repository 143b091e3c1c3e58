/**
 * The native bearer token: `svctk_<base64url(payload JSON)>.<base64url(HMAC-SHA256(payload as written))>`.
 * [native: Bearer token 2] [decisions 1]
 *
 * Owns: the wire form. Knows nothing of: keys that were revoked, tenants, time.
 * Rule: nothing of the payload is looked at before its MAC holds, and one token has exactly one spelling, so that
 * changing any byte makes it another, invalid, token.
 */
import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { AccessKeyId } from '../state-machine/records.ts'

const PREFIX = 'svctk_'
const TOKEN_CHARS_MAX = 1024
const SHAPE = /^svctk_([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{43})$/

/** Times in whole seconds since 1970, as in a JWT. */
export interface TokenClaims {
  readonly v: 1
  readonly typ: 'api'
  readonly ak: AccessKeyId
  /** Version of the access key's secret: a rotation ends all tokens of the secret before it. */
  readonly kv: number
  readonly tid: string
  readonly iat: number
  readonly exp: number
  readonly jti: string
}

export function encodeToken(claims: TokenClaims, signingKey: KeyObject): string {
  const payload = Buffer.from(JSON.stringify(claims)).toString('base64url')
  return `${PREFIX}${payload}.${macOf(payload, signingKey).toString('base64url')}`
}

/** null when this is not a token that one of `signingKeys` signed. */
export function decodeToken(token: string, signingKeys: readonly KeyObject[]): TokenClaims | null {
  if (token.length > TOKEN_CHARS_MAX) return null
  const match = SHAPE.exec(token)
  const [payload, mac] = [match?.[1], match?.[2]]
  if (payload === undefined || mac === undefined) return null
  const given = canonicalBytes(mac)
  if (given === null || !signingKeys.some((key) => timingSafeEqual(given, macOf(payload, key)))) return null
  const bytes = canonicalBytes(payload)
  return bytes === null ? null : claimsOf(JSON.parse(bytes.toString('utf8')))
}

function macOf(payload: string, signingKey: KeyObject): Buffer {
  return createHmac('sha256', signingKey).update(payload).digest()
}

/** Node decodes base64url leniently; a text that does not come out again as it went in is a second spelling. */
function canonicalBytes(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? bytes : null
}

/** The MAC proves who wrote the payload, not that this version understands it. */
function claimsOf(value: unknown): TokenClaims | null {
  if (typeof value !== 'object' || value === null) return null
  const { v, typ, ak, kv, tid, iat, exp, jti } = value as Record<string, unknown>
  if (v !== 1 || typ !== 'api') return null
  if (typeof ak !== 'string' || typeof tid !== 'string' || typeof jti !== 'string') return null
  if (!isWhole(kv) || !isWhole(iat) || !isWhole(exp)) return null
  return { v, typ, ak, kv, tid, iat, exp, jti }
}

function isWhole(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
