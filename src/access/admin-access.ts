/**
 * Proves admin tokens and the sessions of people who logged in.
 *
 * Owns: the order of the checks. Knows nothing of: where a token or a secret stands in a request; whether a page of another site sent it.
 * Rules: the row is looked up at every call; a session is no bearer token, and a bearer token is no session, so that what a browser sends by itself
 * and what a program sends never stand for each other.
 */
import { Refusal } from '../base/refusal.ts'
import type { View } from '../state-machine/base/view.ts'
import { countsNow } from '../state-machine/tenants/admin-sessions.ts'
import { adminTokenByHash } from '../state-machine/tenants/admin-tokens.ts'
import { tenantKeys } from '../state-machine/tenants/keys.ts'
import type { AdminTokenRecord } from '../state-machine/tenants/records.ts'
import type { Proof, RateHeaders } from './access.ts'
import { adminTokenHash, looksLikeAdminToken, looksLikeSessionSecret } from './admin-token.ts'
import type { AdminTokenPrincipal, Connection } from './base/principal.ts'
import { bearerOf } from './bearer.ts'
import { type BindingRefusal, bindingRefusal } from './caller-binding.ts'
import type { LastUsed } from './last-used.ts'
import type { RateLimiter } from './rate-limiter.ts'
import { rateHeaders, take } from './rate-refusal.ts'

interface Parts {
  readonly state: View
  readonly uses: LastUsed
  /** Milliseconds since 1970 UTC. */
  readonly now: () => number
  readonly requests: RateLimiter
  /** Throws what is not null. */
  readonly requireBinding: (refusal: BindingRefusal | null) => void
}

export class AdminAccess {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** The Authorization header as received. */
  open(authorization: string | undefined): Proof<AdminTokenPrincipal> {
    const token = bearerOf(authorization)
    if (!looksLikeAdminToken(token)) throw new Refusal('token_invalid', 'The admin token is not valid')
    const hash = adminTokenHash(token)
    return (connection) => this.#proved(this.#record(hash, 'The admin token'), connection)
  }

  /** `secret`: of the cookie. */
  openSession(secret: string): Proof<AdminTokenPrincipal> {
    if (!looksLikeSessionSecret(secret)) throw new Refusal('token_invalid', 'The session is not valid')
    const hash = adminTokenHash(secret)
    return (connection) => this.#proved(this.#record(hash, 'The session'), connection)
  }

  /** By the id of the row, so that a session whose secret was renewed continues. */
  now({ tokenId }: AdminTokenPrincipal): AdminTokenPrincipal {
    const record = this.#parts.state.get(tenantKeys.adminToken(tokenId))
    if (record === undefined) throw new Refusal('token_invalid', `Session '${tokenId}' has ended`)
    this.#requireStanding(record)
    return principalOf(record)
  }

  rateHeadersOf({ tokenId }: Pick<AdminTokenPrincipal, 'tokenId'>): RateHeaders {
    const { requests } = this.#parts
    return rateHeaders(requests, requests.rateStatus(tokenId))
  }

  #record(hash: string, what: string): AdminTokenRecord {
    const { state, now } = this.#parts
    const record = adminTokenByHash(state, hash)
    if (record === undefined || !countsNow(record, hash, now()))
      throw new Refusal('token_invalid', `${what} is not valid`)
    return record
  }

  #proved(record: AdminTokenRecord, connection: Connection): AdminTokenPrincipal {
    const { requests, requireBinding, uses, now } = this.#parts
    this.#requireStanding(record)
    take(requests, record.tokenId)
    const principal = principalOf(record)
    requireBinding(bindingRefusal(record.boundTo, connection, principal, this.rateHeadersOf(principal)))
    uses.noteToken(record, now())
    return principal
  }

  /** Throws Refusal token_invalid, token_expired. */
  #requireStanding({ tokenId, session, revokedAt, expiresAt }: AdminTokenRecord): void {
    const kind = session === undefined ? 'Admin token' : 'Session'
    if (revokedAt !== null) throw new Refusal('token_invalid', `${kind} '${tokenId}' was revoked`)
    if (expiresAt !== null && this.#parts.now() >= expiresAt)
      throw new Refusal('token_expired', `${kind} '${tokenId}' expired at ${timeText(expiresAt)}`)
  }
}

function principalOf(record: AdminTokenRecord): AdminTokenPrincipal {
  const { tokenId, role, tenantId, noKeys = false, session, name } = record
  const user = session === undefined ? {} : { user: { id: session.user.id, name } }
  return { kind: 'adminToken', tokenId, role, noKeys, tenantId, ...user }
}

const timeText = (ms: number): string => new Date(ms).toISOString()
