/**
 * The native bearer token, `svctk_`. [native: Bearer token 2] [decisions 1]
 *
 * Owns: its claims. Knows nothing of: keys that were revoked, tenants, time; the wire form is in sealed-token.ts.
 */
import type { KeyObject } from 'node:crypto'
import { type KeyClaims, keyClaimsOf, openToken, sealToken, type TokenForm } from './sealed-token.ts'

const FORM: TokenForm = { prefix: 'svctk_', charsMax: 1024 }

export interface TokenClaims extends KeyClaims {
  readonly typ: 'api'
}

export function encodeToken(claims: TokenClaims, signingKey: KeyObject): string {
  return sealToken(FORM, claims, signingKey)
}

/** null when this is not a token that one of `signingKeys` signed. */
export function decodeToken(token: string, signingKeys: readonly KeyObject[]): TokenClaims | null {
  const value = openToken(FORM, token, signingKeys)
  const claims = keyClaimsOf(value)
  if (claims === null) return null
  const { typ } = value as Record<string, unknown>
  return typ === 'api' ? { ...claims, typ } : null
}
