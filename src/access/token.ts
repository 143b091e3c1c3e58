/**
 * The native bearer token, `svctk_`. [native: Bearer token 2] [decisions 1]
 *
 * Owns: its claims. Knows nothing of: keys that were revoked, tenants, time; the wire form is in sealed-token.ts.
 */
import type { KeyObject } from 'node:crypto'
import type { AccessKeyId } from '../state-machine/base/record-ids.ts'
import { openToken, sealToken, type TokenForm } from './sealed-token.ts'

const FORM: TokenForm = { prefix: 'svctk_', charsMax: 1024 }

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
  return sealToken(FORM, claims, signingKey)
}

/** null when this is not a token that one of `signingKeys` signed. */
export function decodeToken(token: string, signingKeys: readonly KeyObject[]): TokenClaims | null {
  return claimsOf(openToken(FORM, token, signingKeys))
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
