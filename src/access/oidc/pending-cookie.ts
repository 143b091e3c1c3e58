/**
 * What a browser keeps while its user is at the identity provider, so that the way back may end at any node.
 *
 * Owns: the form, a token signed with a key of the cluster. Rules: it counts for ten minutes and for one state; nodes keep nothing of it.
 */
import type { MasterKey } from '../master-key.ts'
import { isWhole, openToken, sealToken } from '../sealed-token.ts'
import type { PendingLogIn } from './provider.ts'

const FORM = { prefix: 'svclog_', charsMax: 1024 }
const LIFE_MS = 10 * 60_000

export const PENDING_SECONDS_MAX = LIFE_MS / 1000

type Signing = Pick<MasterKey, 'signingKey' | 'verifyingKeys'>

/** `now`: milliseconds since 1970 UTC, as below. */
export function sealPending(pending: PendingLogIn, signing: Signing, now: number): string {
  return sealToken(FORM, { v: 1, ...pending, exp: now + LIFE_MS }, signing.signingKey('log-in'))
}

/** null: none of this cluster, or too old. */
export function openPending(text: string, signing: Signing, now: number): PendingLogIn | null {
  const value = openToken(FORM, text, signing.verifyingKeys('log-in'))
  if (typeof value !== 'object' || value === null) return null
  const { v, state, nonce, verifier, exp } = value as Readonly<Record<string, unknown>>
  if (v !== 1 || !isWhole(exp) || now >= exp) return null
  if (typeof state !== 'string' || typeof nonce !== 'string' || typeof verifier !== 'string') return null
  return { state, nonce, verifier }
}
