/**
 * The token of a signed URL, `svcurl_`, signed under a key of its own. [native: Signed URL token 1] [decisions 8]
 *
 * Owns: its claims and how they are written. Knows nothing of: keys that were revoked, tenants, time.
 * Rule: a payload is understood as a whole or not at all. A constraint that a newer node wrote and this one does not know
 * would otherwise be one that no node enforces.
 */
import type { KeyObject } from 'node:crypto'
import type { AccessKeyId } from '../state-machine/base/record-ids.ts'
import { openToken, sealToken, type TokenForm } from './sealed-token.ts'
import type { SignedUrl } from './base/signed-url.ts'

/** Beside a key of 1,024 bytes, percent-encoded, it leaves room for other headers in the 16 KiB of a request. */
export const SIGNED_URL_TOKEN_CHARS_MAX = 8192
const FORM: TokenForm = { prefix: 'svcurl_', charsMax: SIGNED_URL_TOKEN_CHARS_MAX }

export interface SignedUrlClaims extends SignedUrl {
  readonly v: 1
  readonly typ: 'url'
  readonly ak: AccessKeyId
  /** Version of the access key's secret: a rotation ends all URLs of the secret before it. */
  readonly kv: number
  readonly tid: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}

type Check = (value: unknown) => boolean

const isText: Check = (value) => typeof value === 'string'
const isWhole: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value)

/** Every member there is; those that may be null are left out of the payload when they are. */
const MEMBERS: Readonly<Record<keyof SignedUrlClaims, Check>> = {
  v: (value) => value === 1,
  typ: (value) => value === 'url',
  ak: isText,
  kv: isWhole,
  tid: isText,
  jti: isText,
  expiresAt: isWhole,
  method: (value) => value === 'GET' || value === 'PUT',
  bucket: isText,
  key: orNull(isText),
  keyPrefix: orNull(isText),
  contentType: orNull(isText),
  contentLengthMax: orNull(isWhole),
  checksumAlg: orNull(isText),
  checksumVal: orNull(isText),
  idempotencyKey: orNull(isText),
  responseContentType: orNull(isText),
  responseContentDisposition: orNull(isText),
  reason: orNull(isText),
}
const NAMES = Object.keys(MEMBERS) as (keyof SignedUrlClaims)[]

/** The result may be longer than a token may be: its caller checks that. */
export function encodeSignedUrl(claims: SignedUrlClaims, signingKey: KeyObject): string {
  const said = Object.entries(claims).filter(([, value]) => value !== null)
  return sealToken(FORM, Object.fromEntries(said), signingKey)
}

/** null when this is not a token that one of `signingKeys` signed, or says what this version does not know. */
export function decodeSignedUrl(token: string, signingKeys: readonly KeyObject[]): SignedUrlClaims | null {
  const payload = openToken(FORM, token, signingKeys)
  if (typeof payload !== 'object' || payload === null) return null
  const given = new Map<string, unknown>(Object.entries(payload))
  if ([...given.keys()].some((name) => !Object.hasOwn(MEMBERS, name))) return null
  const claims = Object.fromEntries(NAMES.map((name) => [name, given.get(name) ?? null]))
  if (!isClaims(claims)) return null
  return (claims.key === null) === (claims.keyPrefix === null) ? null : claims
}

function isClaims(value: object): value is SignedUrlClaims {
  const given = new Map<string, unknown>(Object.entries(value))
  return NAMES.every((name) => MEMBERS[name](given.get(name)))
}
