/**
 * Opaque paging tokens: where a listing continues, sealed so that only a token of this cluster, for this very query, is taken.
 *
 * Format: base64url( first 16 bytes of HMAC-SHA256(key, context, position) || position as UTF-8 ). The key comes from the
 * master key, so a listing that starts at one node continues at any other. [decisions 4]
 * Rule: the context names the listing and everything that shaped it; a token never moves to another query.
 */
import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'
import { Refusal } from '../../base/refusal.ts'
import type { Services } from './services.ts'

const MAC_BYTES = 16
const LABEL = 'continuation-token'
const TOKEN_CHARACTERS_MAX = 4096

type Context = readonly string[]

export function sealContinuationToken(services: Services, context: Context, position: string): string {
  const text = Buffer.from(position, 'utf8')
  const key = services.signing.signingKey(LABEL)
  return Buffer.concat([mac(key, context, text), text]).toString('base64url')
}

export function openContinuationToken(services: Services, context: Context, token: string): string {
  const refuse = (): Refusal =>
    new Refusal(
      'invalid_continuation_token',
      'Cannot continue the listing: "continuationToken" does not belong to this query; repeat the query that returned it, or start over without it',
    )
  if (token.length > TOKEN_CHARACTERS_MAX || !/^[A-Za-z0-9_-]+$/.test(token)) throw refuse()
  const bytes = Buffer.from(token, 'base64url')
  // Two texts can decode to the same bytes; only the one we would write is taken.
  if (bytes.length <= MAC_BYTES || bytes.toString('base64url') !== token) throw refuse()
  const text = bytes.subarray(MAC_BYTES)
  const given = bytes.subarray(0, MAC_BYTES)
  const keys = services.signing.verifyingKeys(LABEL)
  if (!keys.some((key) => timingSafeEqual(given, mac(key, context, text)))) throw refuse()
  return text.toString('utf8')
}

function mac(key: KeyObject, context: Context, position: Buffer): Buffer {
  const hmac = createHmac('sha256', key)
  for (const part of context) {
    const bytes = Buffer.from(part, 'utf8')
    // The length in front keeps ("a", "bc") and ("ab", "c") apart.
    hmac.update(`${bytes.length}:`).update(bytes)
  }
  return hmac.update(position).digest().subarray(0, MAC_BYTES)
}
