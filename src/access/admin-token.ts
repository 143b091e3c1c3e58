/**
 * Admin tokens: `svcadm_` and 32 random bytes in base64url; the secret of a session in a browser: `svcses_` and as many. [admin: Authentication 1]
 * [decisions 1]
 *
 * Owns: making one, recognizing the form, the hash it is stored and found by.
 * Rules: only the hash is ever stored. A plain SHA-256 is enough because the token has 256 random bits. Neither form passes for the other.
 */
import { createHash, randomBytes } from 'node:crypto'

const PREFIX = 'svcadm_'
const SHAPE = /^svcadm_[A-Za-z0-9_-]{43}$/
const SESSION_PREFIX = 'svcses_'
const SESSION_SHAPE = /^svcses_[A-Za-z0-9_-]{43}$/

export interface NewAdminToken {
  /** Shown once, never stored. */
  readonly token: string
  readonly tokenId: string
  /** Lower-case hex. */
  readonly sha256: string
}

export function newAdminToken(): NewAdminToken {
  return withPrefix(PREFIX, 'adm_')
}

/** `token`: the secret, which only the cookie of the browser holds. */
export function newSessionSecret(): NewAdminToken {
  return withPrefix(SESSION_PREFIX, 'ses_')
}

function withPrefix(prefix: string, idPrefix: string): NewAdminToken {
  const token = prefix + randomBytes(32).toString('base64url')
  return { token, tokenId: `${idPrefix}${randomBytes(8).toString('hex')}`, sha256: adminTokenHash(token) }
}

export function adminTokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

export function looksLikeAdminToken(text: string): boolean {
  return SHAPE.test(text)
}

export function looksLikeSessionSecret(text: string): boolean {
  return SESSION_SHAPE.test(text)
}
