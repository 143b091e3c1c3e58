/**
 * What bearer tokens say whose signatures were right lately, so that a token is verified once and not for each request. [record 61]
 *
 * Owns: the cache and its bounds. Knows nothing of: time, keys that were revoked, tenants.
 * Rules: a token is found by its whole text; only one whose signature was right is kept, so that callers without a secret fill nothing; when
 * other keys may have signed, nothing kept counts. What a token says grants nothing by itself: its end, its access key and the
 * tenant are asked at every request.
 */
import type { KeyObject } from 'node:crypto'
import { Recent } from '../base/recent.ts'
import type { MasterKey } from './master-key.ts'
import { decodeTemporary, type TemporaryClaims } from './temporary-token.ts'
import { decodeToken, type TokenClaims } from './token.ts'

/** Of one node, in one generation of `Recent`. */
export const PROVED_TOKENS_MAX = 5_000
const CHARACTERS_MAX = 2 * 1024 * 1024

export class ProvedTokens {
  readonly #masterKey: Pick<MasterKey, 'verifyingKeys'>
  readonly #proved = new Recent<TokenClaims | TemporaryClaims>({
    countMax: PROVED_TOKENS_MAX,
    weightMax: CHARACTERS_MAX,
  })
  /** Those by which the kept ones were verified. */
  #keys: readonly KeyObject[] = []

  constructor(masterKey: Pick<MasterKey, 'verifyingKeys'>) {
    this.#masterKey = masterKey
  }

  get size(): number {
    return this.#proved.size
  }

  /** Null: no token that a key of this node signed. */
  claimsOf(token: string): TokenClaims | TemporaryClaims | null {
    const keys = this.#masterKey.verifyingKeys('native-api-token')
    if (keys !== this.#keys) {
      this.#proved.clear()
      this.#keys = keys
    }
    const known = this.#proved.get(token)
    if (known !== undefined) return known
    const claims =
      decodeTemporary(token, this.#masterKey.verifyingKeys('temporary-token')) ?? decodeToken(token, keys)
    if (claims !== null) this.#proved.set(token, claims, token.length)
    return claims
  }
}
