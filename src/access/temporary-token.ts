/**
 * Temporary credentials, `svctmp_`: a bearer token that may do less than the access key it comes from, and names its session. [record 48]
 *
 * Owns: its claims, and what of its scopes counts. Knows nothing of: keys that were revoked, tenants, time. Rules: it has a prefix and a signing key of
 * its own, so a version that does not know it refuses it, where it would otherwise pass over the narrower scopes; what the key may
 * not do now, it may not do either.
 */
import type { KeyObject } from 'node:crypto'
import type { AccessKeyRecord } from '../state-machine/tenants/records.ts'
import { Refusal } from '../base/refusal.ts'
import type { TemporaryTerms } from './access.ts'
import type { AccessKeyPrincipal, Scope } from './base/principal.ts'
import { parseScopes } from './scopes.ts'
import { type KeyClaims, keyClaimsOf, openToken, sealToken, type TokenForm } from './sealed-token.ts'

export const TEMPORARY_SCOPES_CHARS_MAX = 2_048
/** As a role session is named in AWS STS. */
export const SESSION_NAME = /^[A-Za-z0-9_+=,.@-]{2,64}$/
const FORM: TokenForm = { prefix: 'svctmp_', charsMax: 16 * 1024 }

export interface TemporaryClaims extends KeyClaims {
  readonly typ: 'tmp'
  /** Scopes, verbatim from the request. */
  readonly scp: string
  /** Name of the session. */
  readonly sn: string
}

export function encodeTemporary(claims: TemporaryClaims, signingKey: KeyObject): string {
  return sealToken(FORM, claims, signingKey)
}

/** null when this is no such token that one of `signingKeys` signed. */
export function decodeTemporary(token: string, signingKeys: readonly KeyObject[]): TemporaryClaims | null {
  const value = openToken(FORM, token, signingKeys)
  const claims = keyClaimsOf(value)
  if (claims === null) return null
  const { typ, scp, sn } = value as Record<string, unknown>
  if (typ !== 'tmp' || typeof scp !== 'string' || typeof sn !== 'string') return null
  return { ...claims, typ, scp, sn }
}

/** The key, as far as the session reaches. */
export function narrowed(key: AccessKeyPrincipal, { scp, sn, exp }: TemporaryClaims): AccessKeyPrincipal {
  const scopes = parseScopes(scp).filter((scope) => isCovered(key.scopes, scope))
  return { ...key, scopes, session: { name: sn, endsAt: exp * 1000 } }
}

/** What a credential with these terms may do, as text. Throws Refusal invalid_argument, access_denied. */
export function temporaryScopes(key: AccessKeyRecord, { scopes, sessionName }: TemporaryTerms): string {
  if (!SESSION_NAME.test(sessionName))
    throw new Refusal(
      'invalid_argument',
      `"sessionName" is "${sessionName.slice(0, 64)}": use 2 to 64 letters, digits and _+=,.@-`,
    )
  const text = scopes ?? key.scopes
  if (text.length > TEMPORARY_SCOPES_CHARS_MAX)
    throw new Refusal(
      'invalid_argument',
      `The scopes have ${text.length} characters, at most ${TEMPORARY_SCOPES_CHARS_MAX} in a temporary credential: ask for fewer`,
    )
  const own = parseScopes(key.scopes)
  const beyond = parseScopes(text).find((asked) => !isCovered(own, asked))
  if (beyond === undefined) return text
  const { verb, bucket, prefix } = beyond
  throw new Refusal(
    'access_denied',
    `Access key '${key.accessKeyId}' has no scope that covers op=${verb}:bucket=${bucket}:prefix=${prefix}`,
  )
}

/** Whether one of `scopes` allows all that `asked` allows. */
function isCovered(scopes: readonly Scope[], asked: Scope): boolean {
  return scopes.some(
    ({ verb, bucket, prefix }) =>
      verb === asked.verb && (bucket === '*' || bucket === asked.bucket) && asked.prefix.startsWith(prefix),
  )
}
