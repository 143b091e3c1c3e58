/**
 * Tokens that carry what they say: `<prefix><base64url(payload JSON)>.<base64url(HMAC-SHA256(payload as written))>`.
 *
 * Owns: the wire form, the MAC. Knows nothing of: what the payload means.
 * Rules: nothing of the payload is looked at before its MAC holds, and one token has exactly one spelling, so that
 * changing any byte makes it another, invalid, token; a payload that is not JSON in UTF-8 makes no token either.
 */
import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { AccessKeyId } from '../state-machine/base/record-ids.ts'

export interface TokenForm {
  readonly prefix: string
  readonly charsMax: number
}

const STRICT_UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const BODY = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{43})$/

export function sealToken({ prefix }: TokenForm, payload: object, signingKey: KeyObject): string {
  const text = Buffer.from(JSON.stringify(payload)).toString('base64url')
  return `${prefix}${text}.${macOf(text, signingKey).toString('base64url')}`
}

/** The payload; null when this is not a token of this form that one of `signingKeys` signed. */
export function openToken(form: TokenForm, token: string, signingKeys: readonly KeyObject[]): unknown {
  if (token.length > form.charsMax || !token.startsWith(form.prefix)) return null
  const match = BODY.exec(token.slice(form.prefix.length))
  const [payload, mac] = [match?.[1], match?.[2]]
  if (payload === undefined || mac === undefined) return null
  const given = canonicalBytes(mac)
  if (given === null || !signingKeys.some((key) => timingSafeEqual(given, macOf(payload, key)))) return null
  const bytes = canonicalBytes(payload)
  return bytes === null ? null : parsed(bytes)
}

/** What every token of an access key says. Times in whole seconds since 1970, as in a JWT. */
export interface KeyClaims {
  readonly v: 1
  readonly ak: AccessKeyId
  /** Version of the access key's secret: a rotation ends all that came from the secret before it. */
  readonly kv: number
  readonly tid: string
  readonly iat: number
  readonly exp: number
  readonly jti: string
}

/** The MAC proves who wrote the payload, not that this version understands it: null when it does not. */
export function keyClaimsOf(value: unknown): KeyClaims | null {
  if (typeof value !== 'object' || value === null) return null
  const { v, ak, kv, tid, iat, exp, jti } = value as Record<string, unknown>
  if (v !== 1 || typeof ak !== 'string' || typeof tid !== 'string' || typeof jti !== 'string') return null
  return isWhole(kv) && isWhole(iat) && isWhole(exp) ? { v, ak, kv, tid, iat, exp, jti } : null
}

export function isWhole(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function parsed(payload: Buffer): unknown {
  try {
    return JSON.parse(STRICT_UTF8.decode(payload))
  } catch {
    return null
  }
}

function macOf(payload: string, signingKey: KeyObject): Buffer {
  return createHmac('sha256', signingKey).update(payload).digest()
}

/** Node decodes base64url leniently; a text that does not come out again as it went in is a second spelling. */
function canonicalBytes(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? bytes : null
}
