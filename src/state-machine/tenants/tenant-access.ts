/**
 * The row of a tenant that lists all of its access keys, and the changes of its lists.
 *
 * Owns: the bounds on active and revoked keys, the removal of keys that were revoked long ago, the key counts of accounts.
 * Rules: a key is in exactly one list, which agrees with the status in its row; only this file changes both.
 */
import { tenantKeys } from './keys.ts'
import type { View } from '../base/view.ts'
import { assert } from '../base/assert.ts'
import type { Draft } from '../base/draft.ts'
import type { AccessKeyId, TenantId } from '../base/record-ids.ts'
import {
  ACCESS_KEYS_PER_TENANT_MAX,
  type AccessKeyRecord,
  REVOKED_KEYS_KEPT_MAX,
  type TenantAccessRecord,
  type TenantRecord,
} from './records.ts'
import { type Accepted, type Refused, refuse } from '../base/reply.ts'
import { tenantOf } from './tenants.ts'

const NO_ACCESS: TenantAccessRecord = { accountCount: 0, activeKeys: [], revokedKeys: [] }

export function tenantAccessOf(view: View, tenantId: TenantId): TenantAccessRecord {
  return view.get(tenantKeys.tenantAccess(tenantId)) ?? NO_ACCESS
}

/** The tenant, if it may get new keys and accounts. `action`: for the message. */
export function openTenant(view: View, id: TenantId, action: string): Accepted<TenantRecord> | Refused {
  const tenant = tenantOf(view, id)
  if (!tenant.ok || tenant.value.status === 'active') return tenant
  return refuse('precondition_failed', `Cannot ${action}: tenant "${id}" is ${tenant.value.status}`)
}

/** Null: one more active key is allowed. */
export function keysFault(view: View, tenantId: TenantId): Refused | null {
  const { length } = tenantAccessOf(view, tenantId).activeKeys
  if (length < ACCESS_KEYS_PER_TENANT_MAX) return null
  const message = `Cannot create access key: tenant "${tenantId}" has ${length} that are not revoked, including expired ones; revoke those that are not needed`
  return refuse('precondition_failed', message)
}

/** Call it after `keysFault` has returned null. */
export function addKey(draft: Draft, key: AccessKeyRecord): void {
  const { accessKeyId, tenantId } = key
  const access = tenantAccessOf(draft, tenantId)
  draft.put(tenantKeys.accessKey(accessKeyId), key)
  draft.put(tenantKeys.tenantAccessKey(tenantId, accessKeyId), { accessKeyId })
  draft.put(tenantKeys.tenantAccess(tenantId), { ...access, activeKeys: [...access.activeKeys, accessKeyId] })
  countKey(draft, key, 1)
}

/** Revokes any number of active keys of one tenant: ACCESS_KEYS_PER_TENANT_MAX bounds the work. */
export function revokeKeys(
  draft: Draft,
  tenantId: TenantId,
  ids: readonly AccessKeyId[],
  why: { readonly reason: string; readonly at: number },
): void {
  for (const id of ids) {
    const key = draft.get(tenantKeys.accessKey(id))
    assert(
      key?.tenantId === tenantId && key.status === 'active',
      'only an active key of the tenant is revoked',
    )
    const revoked = { status: 'revoked', revokedAt: why.at, revokedReason: why.reason } as const
    draft.put(tenantKeys.accessKey(id), { ...key, ...revoked })
    countKey(draft, key, -1)
  }
  const access = tenantAccessOf(draft, tenantId)
  const gone = new Set(ids)
  const revokedKeys = [...access.revokedKeys, ...ids]
  const forgotten = revokedKeys.splice(0, Math.max(0, revokedKeys.length - REVOKED_KEYS_KEPT_MAX))
  for (const id of forgotten) {
    draft.remove(tenantKeys.accessKey(id))
    draft.remove(tenantKeys.tenantAccessKey(tenantId, id))
  }
  const activeKeys = access.activeKeys.filter((id) => !gone.has(id))
  draft.put(tenantKeys.tenantAccess(tenantId), { ...access, activeKeys, revokedKeys })
}

/**
 * Removes keys and accounts of a tenant under deletion, whose keys are all revoked. Skips those that are gone already; the
 * last removal also removes the row of the tenant's lists.
 */
export function forgetAccess(
  draft: Draft,
  tenantId: TenantId,
  {
    accessKeyIds,
    accountIds,
  }: { readonly accessKeyIds: readonly AccessKeyId[]; readonly accountIds: readonly string[] },
): void {
  const access = tenantAccessOf(draft, tenantId)
  assert(access.activeKeys.length === 0, 'the keys of a tenant under deletion are revoked')
  for (const id of accessKeyIds) {
    if (draft.get(tenantKeys.accessKey(id))?.tenantId !== tenantId) continue
    draft.remove(tenantKeys.accessKey(id))
    draft.remove(tenantKeys.tenantAccessKey(tenantId, id))
  }
  let { accountCount } = access
  for (const id of accountIds) {
    const account = draft.get(tenantKeys.account(tenantId, id))
    if (account === undefined) continue
    draft.remove(tenantKeys.account(tenantId, id))
    draft.remove(tenantKeys.accountName(tenantId, account.name))
    accountCount--
  }
  const gone = new Set(accessKeyIds)
  const revokedKeys = access.revokedKeys.filter((id) => !gone.has(id))
  const row = tenantKeys.tenantAccess(tenantId)
  if (revokedKeys.length > 0 || accountCount > 0) draft.put(row, { ...access, accountCount, revokedKeys })
  else if (draft.get(row) !== undefined) draft.remove(row)
}

function countKey(draft: Draft, { tenantId, accountId }: AccessKeyRecord, by: 1 | -1): void {
  if (accountId === null) return
  const account = draft.get(tenantKeys.account(tenantId, accountId))
  assert(account !== undefined, 'an account stays as long as its keys')
  draft.put(tenantKeys.account(tenantId, accountId), { ...account, keyCount: account.keyCount + by })
}
