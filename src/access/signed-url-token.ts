/**
 * The token of a signed URL, `svcurl_`, signed under a key of its own. [native: Signed URL token 1] [decisions 8]
 *
 * Owns: its claims and how they are written. Knows nothing of: keys that were revoked, tenants, time.
 * Version 1 names access key and tenant in the clear; version 2 has them encrypted in `holder`, for a link is passed on and logged, and
 * its readers are not to learn whose key made it. [record 40]
 * Rule: a payload is understood as a whole or not at all. A constraint that a newer node wrote and this one does not know
 * would otherwise be one that no node enforces.
 */
import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto'
import type { AccessKeyId } from '../state-machine/base/record-ids.ts'
import { isWhole, openToken, sealToken, type TokenForm } from './sealed-token.ts'
import type { SignedUrl } from './base/signed-url.ts'

/** Beside a key of 1,024 bytes, percent-encoded, it leaves room for other headers in the 16 KiB of a request. */
export const SIGNED_URL_TOKEN_CHARS_MAX = 8192
const FORM: TokenForm = { prefix: 'svcurl_', charsMax: SIGNED_URL_TOKEN_CHARS_MAX }

export interface SignedUrlClaims extends SignedUrl {
  readonly v: 1 | 2
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
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value)

/** Every member there is; those that may be null are left out of the payload when they are. */
const MEMBERS: Readonly<Record<keyof SignedUrlClaims, Check>> = {
  v: (value) => value === 1 || value === 2,
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

/** Of one master key. */
export interface SignedUrlKeys {
  readonly signing: KeyObject
  /** For AES-256. */
  readonly holder: KeyObject
}

/** The result may be longer than a token may be: its caller checks that. */
export function encodeSignedUrl(claims: SignedUrlClaims, keys: SignedUrlKeys): string {
  const said = Object.entries(claims).filter(([, value]) => value !== null)
  const payload =
    claims.v === 1
      ? said
      : said.map(([name, value]) => (name === 'ak' ? ['holder', holderText(claims, keys)] : [name, value]))
  const isShown = ([name]: readonly unknown[]): boolean => claims.v === 1 || (name !== 'kv' && name !== 'tid')
  return sealToken(FORM, Object.fromEntries(payload.filter(isShown)), keys.signing)
}

/** null when this is not a token that one of `keys` signed, or says what this version does not know. */
export function decodeSignedUrl(token: string, keys: readonly SignedUrlKeys[]): SignedUrlClaims | null {
  for (const one of keys) {
    const payload = openToken(FORM, token, [one.signing])
    if (typeof payload === 'object' && payload !== null) return claimsOf(payload, one)
  }
  return null
}

function claimsOf(payload: object, keys: SignedUrlKeys): SignedUrlClaims | null {
  const given = new Map<string, unknown>(Object.entries(payload))
  if (given.get('v') === 2) {
    if (HOLDER_NAMES.some((name) => given.has(name))) return null
    for (const [name, value] of Object.entries(readHolder(given.get('holder'), keys))) given.set(name, value)
    given.delete('holder')
  }
  if ([...given.keys()].some((name) => !Object.hasOwn(MEMBERS, name))) return null
  const claims = Object.fromEntries(NAMES.map((name) => [name, given.get(name) ?? null]))
  if (!isClaims(claims)) return null
  return (claims.key === null) === (claims.keyPrefix === null) ? null : claims
}

/** AES-256-CTR under a key of its own: base64url(IV | cipher text). The MAC around the payload proves that it was not changed. */
const CIPHER = 'aes-256-ctr'
const IV_BYTES = 16
const HOLDER_NAMES = ['ak', 'kv', 'tid'] as const

function holderText({ ak, kv, tid }: SignedUrlClaims, { holder }: SignedUrlKeys): string {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(CIPHER, holder, iv)
  return Buffer.concat([iv, cipher.update(JSON.stringify([ak, kv, tid])), cipher.final()]).toString(
    'base64url',
  )
}

/** {} when it is none; then the members are missing. */
function readHolder(value: unknown, { holder }: SignedUrlKeys): object {
  if (typeof value !== 'string') return {}
  const bytes = Buffer.from(value, 'base64url')
  if (bytes.length <= IV_BYTES) return {}
  const cipher = createDecipheriv(CIPHER, holder, bytes.subarray(0, IV_BYTES))
  const text = Buffer.concat([cipher.update(bytes.subarray(IV_BYTES)), cipher.final()]).toString('utf8')
  try {
    const read: unknown = JSON.parse(text)
    if (!Array.isArray(read) || read.length !== HOLDER_NAMES.length) return {}
    return Object.fromEntries(HOLDER_NAMES.map((name, n) => [name, read[n] as unknown]))
  } catch {
    return {}
  }
}

function isClaims(value: object): value is SignedUrlClaims {
  const given = new Map<string, unknown>(Object.entries(value))
  return NAMES.every((name) => MEMBERS[name](given.get(name)))
}
