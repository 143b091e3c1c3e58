/**
 * Access keys: create, rotate, revoke.
 *
 * Owns: the versions of a key. Knows nothing of: what scopes mean, how a secret is sealed.
 * Rules: every rotation raises `version`, so tokens of the old secret become invalid at once; a revoked key never becomes active again.
 */
import { tenantKeys } from './keys.ts'
import type { ApplyContext, View } from '../base/view.ts'
import { isKeyPart } from '../base/row-key.ts'
import type { TenantCommand } from './commands.ts'
import { accountOf } from './accounts.ts'
import type { Draft } from '../base/draft.ts'
import type { AccessKeyId, TenantId } from '../base/record-ids.ts'
import type { AccessKeyRecord } from './records.ts'
import { boundMember } from './caller-binding.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'
import { addKey, keysFault, openTenant, revokeKeys } from './tenant-access.ts'

export function createAccessKey(
  draft: Draft,
  command: Extract<TenantCommand, { type: 'createAccessKey' }>,
  context: ApplyContext,
): Accepted<AccessKeyRecord> | Refused {
  const { accessKeyId, tenantId, accountId, name, scopes, secret, expiresAt, boundTo } = command
  if (!isKeyPart(accessKeyId)) {
    return refuse('invalid_argument', 'Cannot create access key: its id is empty or malformed')
  }
  const tenant = openTenant(draft, tenantId, 'create access key')
  if (!tenant.ok) return tenant
  const account = accountId === null ? null : accountOf(draft, tenantId, accountId)
  if (account?.ok === false) return account
  if (draft.get(tenantKeys.accessKey(accessKeyId)) !== undefined) {
    return refuse('already_exists', `Cannot create access key: "${accessKeyId}" exists already`)
  }
  const fault = keysFault(draft, tenantId)
  if (fault !== null) return fault
  const accessKey: AccessKeyRecord = {
    accessKeyId,
    tenantId,
    accountId,
    name,
    scopes,
    secret,
    status: 'active',
    version: 1,
    createdAt: context.time,
    expiresAt,
    rotatedAt: null,
    revokedAt: null,
    revokedReason: null,
    lastUsedAt: null,
    ...boundMember(boundTo),
  }
  addKey(draft, accessKey)
  return accept(accessKey)
}

export function rotateAccessKey(
  draft: Draft,
  command: Extract<TenantCommand, { type: 'rotateAccessKey' }>,
  context: ApplyContext,
): Accepted<AccessKeyRecord> | Refused {
  const found = accessKeyOf(draft, command.tenantId, command.accessKeyId)
  if (!found.ok) return found
  const present = found.value
  if (present.status === 'revoked') {
    return refuse('precondition_failed', `Cannot rotate access key: "${present.accessKeyId}" is revoked`)
  }
  const { boundTo, ...kept } = present
  const rotated: AccessKeyRecord = {
    ...kept,
    secret: command.secret,
    scopes: command.scopes ?? present.scopes,
    version: present.version + 1,
    expiresAt: command.expiresAt === null ? present.expiresAt : command.expiresAt || null,
    rotatedAt: context.time,
    ...boundMember(command.boundTo ?? boundTo),
  }
  draft.put(tenantKeys.accessKey(present.accessKeyId), rotated)
  return accept(rotated)
}

/** Idempotent: keeps the first reason and time. */
export function revokeAccessKey(
  draft: Draft,
  command: Extract<TenantCommand, { type: 'revokeAccessKey' }>,
  context: ApplyContext,
): Accepted<AccessKeyRecord> | Refused {
  const found = accessKeyOf(draft, command.tenantId, command.accessKeyId)
  if (!found.ok || found.value.status === 'revoked') return found
  const { accessKeyId } = found.value
  revokeKeys(draft, command.tenantId, [accessKeyId], { reason: command.reason, at: context.time })
  return accessKeyOf(draft, command.tenantId, accessKeyId)
}

/** Another tenant's key gets the same answer as one that does not exist. */
function accessKeyOf(view: View, tenantId: TenantId, id: AccessKeyId): Accepted<AccessKeyRecord> | Refused {
  const accessKey = view.get(tenantKeys.accessKey(id))
  if (accessKey === undefined || accessKey.tenantId !== tenantId) {
    return refuse('not_found', `Access key "${id}" does not exist in tenant "${tenantId}"`)
  }
  return accept(accessKey)
}
