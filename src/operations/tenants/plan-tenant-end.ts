/**
 * What the end of a tenant would take along, counted now: for dry runs. [admin: Endpoints]
 */
import type { AccessKeyRecord, TenantId } from '../../state-machine/records.ts'
import type { Page } from '../../store/state-reader.ts'
import type { Plan } from '../dry-run.ts'
import type { Services } from '../services.ts'
import { findTenant } from './find-tenant.ts'
import { tenantLocks } from './tenant-locks.ts'

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

const PAGE = 1_000

/** A disabling revokes the active access keys; a deletion removes all there ever were. */
export async function planTenantEnd(
  services: Services,
  id: string,
  step: 'disable' | 'delete',
): Promise<Plan<TenantEndPlan>> {
  const { id: tenantId } = findTenant(services, id)
  const { usage, bucketCount } = await services.state.tenantUsage(tenantId, 1)
  const { held, retained } = await tenantLocks(services, tenantId, Date.now())
  const isMeant = (key: AccessKeyRecord): boolean => step === 'delete' || key.status === 'active'
  const plan = {
    buckets: bucketCount,
    objects: usage.objects,
    versions: usage.versions,
    deleteMarkers: usage.deleteMarkers,
    legalHeldVersions: held,
    retainedVersions: retained,
    accessKeys: await countKeys(services, tenantId, isMeant),
    physicalBytes: usage.copyBytes,
  }
  return { plan, warnings: warningsOf(step, usage.uploads), tenantId }
}

async function countKeys(
  { state }: Services,
  tenantId: TenantId,
  isMeant: (key: AccessKeyRecord) => boolean,
): Promise<number> {
  let count = 0
  for (let after: string | null = ''; after !== null; ) {
    const page: Page<AccessKeyRecord> = await state.accessKeys(tenantId, after, PAGE)
    count += page.items.filter(isMeant).length
    after = page.next
  }
  return count
}

function warningsOf(step: 'disable' | 'delete', uploads: number): readonly string[] {
  if (step === 'disable') return ['A disabled tenant cannot be made active again']
  const warnings = ['What is deleted cannot be brought back, and the id of the tenant is never free again']
  return uploads === 0 ? warnings : [...warnings, `${uploads} unfinished uploads go as well`]
}
