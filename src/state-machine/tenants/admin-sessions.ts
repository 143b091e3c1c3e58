/**
 * Sessions of people who logged in at an identity provider: admin tokens with an end after idle time, whose secret changes while they are used.
 *
 * Owns: openAdminSession, renewAdminSession, endAdminSessions, and the bound of their number. Knows nothing of: cookies, the provider, which groups
 * have which role. Rules: a session is an admin token row with the member `session`, so that every check of a token holds for it; its row goes with
 * its end; the previous secret stays valid for a minute after a renewal, for requests in flight.
 */
import { isKeyPart } from '../base/row-key.ts'
import type { Draft } from '../base/draft.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'
import type { ApplyContext, View } from '../base/view.ts'
import type { TenantCommand, TenantReplies } from './commands.ts'
import { tenantKeys } from './keys.ts'
import {
  ADMIN_SESSIONS_MAX,
  ADMIN_SESSIONS_PER_USER_MAX,
  type AdminSession,
  type AdminTokenRecord,
  ENDED_SESSIONS_PER_STEP,
  FORMER_SECRET_MS,
  type ListedSession,
} from './records.ts'

type Of<T extends TenantCommand['type']> = Extract<TenantCommand, { type: T }>
type SessionRecord = AdminTokenRecord & { readonly session: AdminSession }

/** Of a user who has as many as one may have, the oldest ends. */
export function openAdminSession(
  draft: Draft,
  command: Of<'openAdminSession'>,
  { time }: ApplyContext,
): Accepted<AdminTokenRecord> | Refused {
  const { tokenId, name, role, tenantId, noKeys, user, idleMs, endsAt, sha256 } = command
  if (![tokenId, sha256, user.id].every(isKeyPart))
    return refuse('invalid_argument', 'Cannot open a session: an id or hash is empty or malformed')
  if (tenantId !== null && draft.get(tenantKeys.tenant(tenantId)) === undefined)
    return refuse('not_found', `Cannot open a session: tenant "${tenantId}" does not exist`)
  const taken = draft.get(tenantKeys.adminToken(tokenId)) ?? draft.get(tenantKeys.adminTokenHash(sha256))
  if (taken !== undefined)
    return refuse('already_exists', `Cannot open a session: "${taken.tokenId}" exists already`)
  removeEnded(draft, time)
  const ofUser = listOf(draft).filter(({ userId }) => userId === user.id)
  if (ofUser.length >= ADMIN_SESSIONS_PER_USER_MAX)
    remove(draft, ofUser.slice(0, ofUser.length + 1 - ADMIN_SESSIONS_PER_USER_MAX))
  if (listOf(draft).length >= ADMIN_SESSIONS_MAX)
    return refuse(
      'precondition_failed',
      `Cannot open a session: ${ADMIN_SESSIONS_MAX} are open; let others log out, or revoke some`,
    )
  const record: SessionRecord = {
    tokenId,
    name,
    role,
    tenantId,
    createdAt: time,
    expiresAt: Math.min(time + idleMs, endsAt),
    revokedAt: null,
    lastUsedAt: null,
    sha256,
    ...(noKeys === undefined ? {} : { noKeys }),
    session: { user, idleMs, endsAt },
  }
  draft.put(tenantKeys.adminToken(tokenId), record)
  draft.put(tenantKeys.adminTokenHash(sha256), { tokenId })
  draft.put(tenantKeys.adminSessions(), { sessions: [...listOf(draft), { tokenId, userId: user.id }] })
  return accept(record)
}

/** Idempotent: with the previous secret the session stays as it is, and nothing is renewed. */
export function renewAdminSession(
  draft: Draft,
  { tokenId, formerSha256, sha256 }: Of<'renewAdminSession'>,
  { time }: ApplyContext,
): Accepted<AdminTokenRecord> | Refused {
  const present = liveSession(draft, tokenId, time)
  if (present === null) return refuse('token_invalid', `Session "${tokenId}" has ended`)
  const { session } = present
  if (present.sha256 !== formerSha256) {
    if (session.former?.sha256 === formerSha256 && time < session.former.until) return accept(present)
    return refuse('token_invalid', `The secret of session "${tokenId}" was renewed meanwhile`)
  }
  if (!isKeyPart(sha256) || draft.get(tenantKeys.adminTokenHash(sha256)) !== undefined)
    return refuse('invalid_argument', 'Cannot renew a session: the hash is malformed or taken')
  if (session.former !== undefined) draft.remove(tenantKeys.adminTokenHash(session.former.sha256))
  const renewed: SessionRecord = {
    ...present,
    sha256,
    expiresAt: Math.min(time + session.idleMs, session.endsAt),
    session: { ...session, former: { sha256: present.sha256, until: time + FORMER_SECRET_MS } },
  }
  draft.put(tenantKeys.adminToken(tokenId), renewed)
  draft.put(tenantKeys.adminTokenHash(sha256), { tokenId })
  return accept(renewed)
}

/** Idempotent. `tokenId` null: all of the user. */
export function endAdminSessions(
  draft: Draft,
  { userId, tokenId }: Of<'endAdminSessions'>,
): Accepted<TenantReplies['endAdminSessions']> {
  const ended = listOf(draft).filter(
    (one) => one.userId === userId && (tokenId === null || one.tokenId === tokenId),
  )
  if (ended.length > 0) remove(draft, ended)
  return accept({ ended: ended.length })
}

/** Whether this hash is of a valid secret: the present one, or for a minute the previous one. `time`: ms since 1970. */
export function countsNow({ sha256, session }: AdminTokenRecord, hash: string, time: number): boolean {
  if (hash === sha256) return true
  return session?.former?.sha256 === hash && time < session.former.until
}

function listOf(view: View): readonly ListedSession[] {
  return view.get(tenantKeys.adminSessions())?.sessions ?? []
}

/** Null: it has ended, was revoked, or is no session. */
function liveSession(view: View, tokenId: string, time: number): SessionRecord | null {
  const record = view.get(tenantKeys.adminToken(tokenId))
  if (record?.session === undefined || record.revokedAt !== null) return null
  const isOver = record.expiresAt !== null && time >= record.expiresAt
  return isOver ? null : { ...record, session: record.session }
}

/** The oldest first; some at a time, so that an entry stays small. */
function removeEnded(draft: Draft, time: number): void {
  const ended = listOf(draft).filter(({ tokenId }) => liveSession(draft, tokenId, time) === null)
  if (ended.length > 0) remove(draft, ended.slice(0, ENDED_SESSIONS_PER_STEP))
}

function remove(draft: Draft, ended: readonly ListedSession[]): void {
  const ids = ended.map(({ tokenId }) => tokenId)
  for (const id of ids) {
    const record = draft.get(tenantKeys.adminToken(id))
    if (record === undefined) continue
    draft.remove(tenantKeys.adminToken(id))
    draft.remove(tenantKeys.adminTokenHash(record.sha256))
    const former = record.session?.former
    if (former !== undefined) draft.remove(tenantKeys.adminTokenHash(former.sha256))
  }
  const sessions = listOf(draft).filter(({ tokenId }) => !ids.includes(tokenId))
  if (sessions.length === 0) return draft.remove(tenantKeys.adminSessions())
  draft.put(tenantKeys.adminSessions(), { sessions })
}
