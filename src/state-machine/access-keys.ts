/**
 * Access keys: made, rotated, revoked.
 *
 * Owns: the versions of a key. Knows nothing of: what scopes mean, how a secret is sealed.
 * Rules: every rotation raises `version`, so tokens of the old secret die at once; a revoked key never comes back.
 */
import type { Command } from './commands.ts'
import type { Draft } from './draft.ts'
import { isKeyPart, keys } from './keys.ts'
import type { AccessKeyId, AccessKeyRecord, TenantId } from './records.ts'
import { type Accepted, accept, type Refused, refuse } from './reply.ts'
import type { ApplyContext, View } from './view.ts'

export function createAccessKey(
  draft: Draft,
  command: Extract<Command, { type: 'createAccessKey' }>,
  context: ApplyContext,
): Accepted<AccessKeyRecord> | Refused {
  const { accessKeyId, tenantId, name, scopes, secret, expiresAt } = command
  if (!isKeyPart(accessKeyId)) {
    return refuse('invalid_argument', 'Cannot create access key: its id is empty or malformed')
  }
  const tenant = draft.get(keys.tenant(tenantId))
  if (tenant === undefined) {
    return refuse('not_found', `Cannot create access key: tenant "${tenantId}" does not exist`)
  }
  if (tenant.status !== 'active') {
    return refuse('precondition_failed', `Cannot create access key: tenant "${tenantId}" is ${tenant.status}`)
  }
  if (draft.get(keys.accessKey(accessKeyId)) !== undefined) {
    return refuse('already_exists', `Cannot create access key: "${accessKeyId}" exists already`)
  }
  const accessKey: AccessKeyRecord = {
    accessKeyId,
    tenantId,
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
  }
  draft.put(keys.accessKey(accessKeyId), accessKey)
  draft.put(keys.tenantAccessKey(tenantId, accessKeyId), { accessKeyId })
  return accept(accessKey)
}

export function rotateAccessKey(
  draft: Draft,
  command: Extract<Command, { type: 'rotateAccessKey' }>,
  context: ApplyContext,
): Accepted<AccessKeyRecord> | Refused {
  const found = accessKeyOf(draft, command.tenantId, command.accessKeyId)
  if (!found.ok) return found
  const present = found.value
  if (present.status === 'revoked') {
    return refuse('precondition_failed', `Cannot rotate access key: "${present.accessKeyId}" is revoked`)
  }
  const rotated: AccessKeyRecord = {
    ...present,
    secret: command.secret,
    scopes: command.scopes ?? present.scopes,
    version: present.version + 1,
    expiresAt: command.expiresAt === null ? present.expiresAt : command.expiresAt || null,
    rotatedAt: context.time,
  }
  draft.put(keys.accessKey(present.accessKeyId), rotated)
  return accept(rotated)
}

/** Repeating it changes nothing: the first reason and time stand. */
export function revokeAccessKey(
  draft: Draft,
  command: Extract<Command, { type: 'revokeAccessKey' }>,
  context: ApplyContext,
): Accepted<AccessKeyRecord> | Refused {
  const found = accessKeyOf(draft, command.tenantId, command.accessKeyId)
  if (!found.ok || found.value.status === 'revoked') return found
  const revoked: AccessKeyRecord = {
    ...found.value,
    status: 'revoked',
    revokedAt: context.time,
    revokedReason: command.reason,
  }
  draft.put(keys.accessKey(revoked.accessKeyId), revoked)
  return accept(revoked)
}

/** Another tenant's key is as absent as one that never was. */
function accessKeyOf(view: View, tenantId: TenantId, id: AccessKeyId): Accepted<AccessKeyRecord> | Refused {
  const accessKey = view.get(keys.accessKey(id))
  if (accessKey === undefined || accessKey.tenantId !== tenantId) {
    return refuse('not_found', `Access key "${id}" does not exist in tenant "${tenantId}"`)
  }
  return accept(accessKey)
}
