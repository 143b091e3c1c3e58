/**
 * Admin tokens; the state contains only their hashes.
 *
 * Owns: createAdminToken, revokeAdminToken. Rule: a token's role and tenant never change; a change needs another token.
 */
import { tenantKeys } from './keys.ts'
import type { ApplyContext, View } from '../base/view.ts'
import { isKeyPart } from '../base/row-key.ts'
import type { TenantCommand } from './commands.ts'
import type { Draft } from '../base/draft.ts'
import type { AdminTokenRecord } from './records.ts'
import { boundMember } from './caller-binding.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'

/** `sha256`: of the token's text. */
export function adminTokenByHash(view: View, sha256: string): AdminTokenRecord | undefined {
  const found = view.get(tenantKeys.adminTokenHash(sha256))
  return found === undefined ? undefined : view.get(tenantKeys.adminToken(found.tokenId))
}

export function createAdminToken(
  draft: Draft,
  command: Extract<TenantCommand, { type: 'createAdminToken' }>,
  context: ApplyContext,
): Accepted<AdminTokenRecord> | Refused {
  const { tokenId, name, role, tenantId, expiresAt, sha256, noKeys, boundTo } = command
  if (!isKeyPart(tokenId) || !isKeyPart(sha256)) {
    return refuse('invalid_argument', 'Cannot create admin token: its id or hash is empty or malformed')
  }
  if (tenantId !== null && draft.get(tenantKeys.tenant(tenantId)) === undefined) {
    return refuse('not_found', `Cannot create admin token: tenant "${tenantId}" does not exist`)
  }
  const taken = draft.get(tenantKeys.adminToken(tokenId)) ?? draft.get(tenantKeys.adminTokenHash(sha256))
  if (taken !== undefined) {
    return refuse('already_exists', `Cannot create admin token: "${taken.tokenId}" exists already`)
  }
  const token: AdminTokenRecord = {
    tokenId,
    name,
    role,
    tenantId,
    createdAt: context.time,
    expiresAt,
    revokedAt: null,
    lastUsedAt: null,
    sha256,
    ...(noKeys === undefined ? {} : { noKeys }),
    ...boundMember(boundTo),
  }
  draft.put(tenantKeys.adminToken(tokenId), token)
  draft.put(tenantKeys.adminTokenHash(sha256), { tokenId })
  return accept(token)
}

/** Idempotent. The hash stays, so that a revoked token differs from an unknown one. */
export function revokeAdminToken(
  draft: Draft,
  command: Extract<TenantCommand, { type: 'revokeAdminToken' }>,
  context: ApplyContext,
): Accepted<AdminTokenRecord> | Refused {
  const token = draft.get(tenantKeys.adminToken(command.tokenId))
  if (token === undefined) {
    return refuse('not_found', `Cannot revoke admin token: "${command.tokenId}" does not exist`)
  }
  if (token.revokedAt !== null) return accept(token)
  const revoked = { ...token, revokedAt: context.time }
  draft.put(tenantKeys.adminToken(token.tokenId), revoked)
  return accept(revoked)
}
