/**
 * What the end of a tenant would take along, counted now: for dry runs. [admin: Endpoints]
 */
import { tenantAccessOf } from '../../state-machine/tenants/tenant-access.ts'
import type { Plan } from '../base/dry-run.ts'
import type { Services } from '../base/services.ts'
import { findTenant } from './find-tenant.ts'
import { tenantLocks } from './tenant-locks.ts'
import { tenantUsage } from '../../store/reads/tenant-usage.ts'

export interface TenantEndPlan {
  readonly buckets: number
  readonly objects: number
  readonly versions: number
  readonly deleteMarkers: number
  readonly legalHeldVersions: number
  readonly retainedVersions: number
  readonly accessKeys: number
  readonly physicalBytes: number
}

/** A disabling revokes the active access keys; a deletion removes all there ever were. */
export async function planTenantEnd(
  services: Services,
  id: string,
  step: 'disable' | 'delete',
): Promise<Plan<TenantEndPlan>> {
  const { id: tenantId } = findTenant(services, id)
  const { usage, bucketCount } = await tenantUsage(services.state, tenantId, 1)
  const { held, retained } = await tenantLocks(
    services,
    tenantId,
    services.cluster.time.status().confirmedTime,
  )
  const { activeKeys, revokedKeys } = tenantAccessOf(services.state, tenantId)
  const plan = {
    buckets: bucketCount,
    objects: usage.objects,
    versions: usage.versions,
    deleteMarkers: usage.deleteMarkers,
    legalHeldVersions: held,
    retainedVersions: retained,
    accessKeys: activeKeys.length + (step === 'delete' ? revokedKeys.length : 0),
    physicalBytes: usage.copyBytes,
  }
  return { plan, warnings: warningsOf(step, usage.uploads), tenantId }
}

function warningsOf(step: 'disable' | 'delete', uploads: number): readonly string[] {
  if (step === 'disable') return ['A disabled tenant cannot be made active again']
  const warnings = ['What is deleted cannot be brought back, and the id of the tenant is never free again']
  return uploads === 0 ? warnings : [...warnings, `${uploads} unfinished uploads go as well`]
}
