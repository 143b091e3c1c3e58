/**
 * The end of a tenant: it is disabled, emptied in steps, and its keys are destroyed; a tombstone stays.
 *
 * Owns: the order of these statuses, which is never reversed. Knows nothing of: what a step removes (tenant-erasure.ts), its driver.
 * Rules: no command adds anything to a tenant that is not active, so a check of its locks stays valid: time can only end locks. The
 * keys are destroyed last, when no bucket is left; the id is never reused.
 */
import { usageKeys } from '../usage/keys.ts'
import { limitKeys } from '../limits/keys.ts'
import { tenantKeys } from '../tenants/keys.ts'
import { longOperationKeys } from '../long-operations/keys.ts'
import type { ApplyContext, View } from '../base/view.ts'
import type { RemovalCommand, RemovalReplies } from './commands.ts'
import type { Draft } from '../base/draft.ts'
import {
  beginOperation,
  isFinished,
  setOperationStatus,
  tooManyOperations,
  workable,
} from '../long-operations/operations.ts'
import type { TenantId } from '../base/record-ids.ts'
import type { LongOperationProgress, LongOperation } from '../long-operations/records.ts'
import type { TenantRecord } from '../tenants/records.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'
import { forgetTenantSite } from '../sites/tenant-sites.ts'
import { revokeKeys, tenantAccessOf } from '../tenants/tenant-access.ts'
import { forgetSealed, withoutFormerKey } from '../tenants/data-keys.ts'
import { tenantOf } from '../tenants/tenants.ts'
import { NO_USAGE } from '../usage/usage.ts'

type Of<T extends RemovalCommand['type']> = Extract<RemovalCommand, { type: T }>

/** Idempotent: keeps the first reason and time. */
export function disableTenant(
  draft: Draft,
  { tenantId, reason }: Of<'disableTenant'>,
  context: ApplyContext,
): Accepted<RemovalReplies['disableTenant']> | Refused {
  const found = tenantOf(draft, tenantId)
  if (!found.ok) return found
  if (found.value.status !== 'active') return accept({ tenant: found.value, revoked: [] })
  const disabled = { status: 'disabled', disabledAt: context.time, disabledReason: reason } as const
  const tenant: TenantRecord = { ...found.value, ...disabled }
  draft.put(tenantKeys.tenant(tenantId), tenant)
  const { activeKeys: revoked } = tenantAccessOf(draft, tenantId)
  if (revoked.length > 0) revokeKeys(draft, tenantId, revoked, { reason, at: context.time })
  return accept({ tenant, revoked })
}

/** Idempotent: returns the unfinished or succeeded operation. After a failed one it starts another. */
export function deleteTenant(
  draft: Draft,
  command: Of<'deleteTenant'>,
  context: ApplyContext,
): Accepted<LongOperation> | Refused {
  const { tenantId, operationId, requestedBy, reason, locksEndedBy } = command
  const found = tenantOf(draft, tenantId)
  if (!found.ok) return found
  const earlier = deletionOf(draft, found.value)
  if (earlier !== null) return accept(earlier)
  const fault = deletionFault(found.value) ?? tooManyOperations(draft)
  if (fault !== null) return fault
  if (locksEndedBy > context.confirmedTime)
    return refuse('precondition_failed', `Cannot delete tenant "${tenantId}": a retention has not ended yet`)
  draft.put(tenantKeys.tenant(tenantId), { ...found.value, status: 'deleting', deletion: operationId })
  const about = { kind: 'tenantDeletion', operationId, requestedBy, reason, tenantId } as const
  const limits = { bucket: null, node: null, maxBytesPerSecond: null }
  const started = beginOperation(draft, { ...about, ...limits }, context)
  const operation = { ...started, progress: totalOf(draft, tenantId, started.progress) }
  draft.put(longOperationKeys.operation(operationId), operation)
  return accept(operation)
}

/** The operation that a repeated request returns; null: there is none, and one may start if no other check fails. */
export function deletionOf(view: View, { status, deletion }: TenantRecord): LongOperation | null {
  const operation = deletion === undefined ? undefined : view.get(longOperationKeys.operation(deletion))
  if (operation === undefined) return null
  return status === 'deleted' || !isFinished(operation.status) ? operation : null
}

function deletionFault({ id, status }: TenantRecord): Refused | null {
  switch (status) {
    case 'active':
      return refuse('precondition_failed', `Cannot delete tenant "${id}": it is active; disable it first`)
    case 'deleted':
      return refuse('precondition_failed', `Cannot delete tenant "${id}": it is deleted`)
    case 'disabled':
    case 'deleting':
      return null
  }
}

function totalOf(view: View, tenantId: TenantId, progress: LongOperationProgress): LongOperationProgress {
  const { versions, deleteMarkers, uploads, logicalBytes, uploadBytes } = {
    ...NO_USAGE,
    ...view.get(usageKeys.usage(tenantId)),
  }
  return {
    ...progress,
    blobsTotal: versions + deleteMarkers + uploads,
    bytesTotal: logicalBytes + uploadBytes,
  }
}

/**
 * Overwrites the keys of a tenant with empty ones, so no copy of its data can be opened any more. The tenant is deleted from here
 * on, and its operation has succeeded. Idempotent.
 */
export function shredTenant(
  draft: Draft,
  command: Of<'shredTenant'>,
  context: ApplyContext,
): Accepted<TenantRecord> | Refused {
  const { tenantId, operationId } = command
  const present = tenantOf(draft, tenantId)
  if (!present.ok || present.value.status === 'deleted') return present
  const found = underDeletion(draft, command, 'shred')
  if (!found.ok) return found
  const { tenant } = found.value
  if (tenant.bucketCount > 0)
    return refuse(
      'precondition_failed',
      `Cannot shred tenant "${tenantId}": it has ${tenant.bucketCount} buckets`,
    )
  if (draft.get(tenantKeys.tenantAccess(tenantId)) !== undefined)
    return refuse('precondition_failed', `Cannot shred tenant "${tenantId}": it has access keys or accounts`)
  const nothing = new Uint8Array(0)
  const shredded: TenantRecord = {
    ...withoutFormerKey(tenant),
    status: 'deleted',
    deletedAt: context.time,
    dataKey: nothing,
    dedupKey: nothing,
  }
  draft.put(tenantKeys.tenant(tenantId), shredded)
  forgetSealed(draft, tenantId)
  if (draft.get(usageKeys.quota(tenantId)) !== undefined) draft.remove(usageKeys.quota(tenantId))
  if (draft.get(limitKeys.limits(tenantId)) !== undefined) draft.remove(limitKeys.limits(tenantId))
  forgetTenantSite(draft, tenantId)
  const finish = { type: 'setOperationStatus', operationId, action: 'finish', error: null } as const
  const finished = setOperationStatus(draft, finish, context)
  return finished.ok ? accept(shredded) : finished
}

/** The tenant and the operation, if the operation deletes this tenant and may continue. */
export function underDeletion(
  view: View,
  { tenantId, operationId }: { readonly tenantId: TenantId; readonly operationId: string },
  what: string,
): Accepted<{ readonly tenant: TenantRecord; readonly operation: LongOperation }> | Refused {
  const tenant = tenantOf(view, tenantId)
  if (!tenant.ok) return tenant
  if (tenant.value.deletion !== operationId)
    return refuse(
      'precondition_failed',
      `Cannot ${what} tenant "${tenantId}": operation "${operationId}" does not delete it`,
    )
  const operation = workable(view, operationId, what)
  return operation.ok ? accept({ tenant: tenant.value, operation: operation.value }) : operation
}
