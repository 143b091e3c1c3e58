/**
 * Tenants, and the one row that names the cluster's master key.
 *
 * Owns: createTenant, setClusterKey, and the first check of every data command: whether the tenant is active.
 * Rule: a tenant's bucketCount is kept by buckets.ts in the same entry that makes or removes the bucket.
 */
import { tenantKeys } from './keys.ts'
import type { ApplyContext, View } from '../base/view.ts'
import { isKeyPart } from '../base/row-key.ts'
import type { TenantCommand, TenantReplies } from './commands.ts'
import type { Draft } from '../base/draft.ts'
import type { TenantId } from '../base/record-ids.ts'
import type { TenantRecord } from './records.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'

/** The first writer wins: every caller gets the stored fingerprint back, and a node with another key refuses to start. */
export function setClusterKey(
  draft: Draft,
  command: Extract<TenantCommand, { type: 'setClusterKey' }>,
): Accepted<TenantReplies['setClusterKey']> {
  const present = draft.get(tenantKeys.clusterKey())
  if (present !== undefined) return accept(present)
  const row = { masterKeyFingerprint: command.masterKeyFingerprint }
  draft.put(tenantKeys.clusterKey(), row)
  return accept(row)
}

export function createTenant(
  draft: Draft,
  command: Extract<TenantCommand, { type: 'createTenant' }>,
  context: ApplyContext,
): Accepted<TenantRecord> | Refused {
  const { id, name, dataKey, dedupKey, masterKeyId } = command
  if (!isKeyPart(id)) return refuse('invalid_argument', 'Cannot create tenant: its id is empty or malformed')
  if (draft.get(tenantKeys.tenant(id)) !== undefined) {
    return refuse('already_exists', `Cannot create tenant: "${id}" exists already`)
  }
  const tenant: TenantRecord = {
    id,
    name,
    status: 'active',
    createdAt: context.time,
    disabledAt: null,
    disabledReason: null,
    dataKey,
    dedupKey,
    masterKeyId,
    bucketCount: 0,
  }
  draft.put(tenantKeys.tenant(id), tenant)
  return accept(tenant)
}

export function tenantOf(view: View, id: TenantId): Accepted<TenantRecord> | Refused {
  const tenant = view.get(tenantKeys.tenant(id))
  return tenant === undefined ? refuse('not_found', `Tenant "${id}" does not exist`) : accept(tenant)
}

/** The tenant of a data command, if it is active. */
export function activeTenant(view: View, id: TenantId): Accepted<TenantRecord> | Refused {
  const tenant = tenantOf(view, id)
  if (!tenant.ok || tenant.value.status === 'active') return tenant
  return refuse('tenant_disabled', `Tenant "${id}" is disabled`)
}
