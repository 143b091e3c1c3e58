/**
 * What a restore takes out of a backup: a tenant, or one bucket of it.
 *
 * Owns: how it is found, what it holds in figures, which settings come back. Knows nothing of: where it goes. Rule: a tenant is named by its id, or by a name that no other
 * tenant of the backup has.
 */
import type { MasterKey } from '../../access/master-key.ts'
import { tenantDedupKey } from '../../access/sealing-contexts.ts'
import { ChunkKeys } from '../../content/chunk-keys.ts'
import type { KeyRing } from '../../content/key-ring.ts'
import { bucketKeys, bucketRanges } from '../../state-machine/buckets/keys.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import { lifecycleKeys } from '../../state-machine/lifecycle/keys.ts'
import { limitKeys } from '../../state-machine/limits/keys.ts'
import type { BucketSettings, TenantSettings } from '../../state-machine/restoring/commands.ts'
import { tenantKeys, tenantRanges } from '../../state-machine/tenants/keys.ts'
import type { TenantRecord } from '../../state-machine/tenants/records.ts'
import { usageKeys } from '../../state-machine/usage/keys.ts'
import { TargetRefused } from '../targets/target.ts'
import type { BackupRows } from './backup-rows.ts'

/** The backup has no such tenant or bucket, or nothing that can be restored. */
export class ScopeUnknown extends Error {
  override readonly name = 'ScopeUnknown'
}

/** Throws ScopeUnknown, TargetError. */
export async function tenantNamed(rows: BackupRows, named: string): Promise<TenantRecord> {
  const found = (await rows.get(tenantKeys.tenant(named))) ?? (await onlyOneCalled(rows, named))
  if (found.dataKey.length > 0) return found
  throw new ScopeUnknown(`Tenant "${found.id}" was deleted when the backup was made: its keys are destroyed`)
}

async function onlyOneCalled(rows: BackupRows, name: string): Promise<TenantRecord> {
  const found: TenantRecord[] = []
  for await (const { row } of rows.ascending(tenantRanges.tenants())) if (row.name === name) found.push(row)
  const [one, other] = found
  if (one === undefined) throw new ScopeUnknown(`The backup has no tenant "${name}"`)
  if (other === undefined) return one
  throw new ScopeUnknown(`The backup has several tenants with the name "${name}": give the id of one`)
}

/** `after`: exclusive. Throws TargetError. */
export async function* bucketsOf(
  rows: BackupRows,
  tenantId: string,
  { bucket, after = '' }: { readonly bucket: string | null; readonly after?: string },
): AsyncGenerator<BucketRecord> {
  if (bucket !== null) {
    const found = await rows.get(bucketKeys.bucket(tenantId, bucket))
    if (found !== undefined && after === '') yield found
    return
  }
  const range = bucketRanges.buckets(tenantId)
  for await (const { row } of rows.ascending(range, range.start + after)) if (row.name !== after) yield row
}

export interface Figures {
  readonly buckets: number
  readonly objects: number
  readonly versions: number
  readonly deleteMarkers: number
  /** Plain bytes of all versions. */
  readonly bytes: number
}

/** Throws TargetError. */
export async function figuresOf(rows: BackupRows, tenantId: string, bucket: string | null): Promise<Figures> {
  let [buckets, objects, versions, deleteMarkers, bytes] = [0, 0, 0, 0, 0]
  for await (const one of bucketsOf(rows, tenantId, { bucket })) {
    buckets += 1
    objects += one.objectCount
    versions += one.versionCount
    deleteMarkers += one.deleteMarkerCount
    bytes += one.logicalBytes
  }
  return { buckets, objects, versions, deleteMarkers, bytes }
}

/** Throws TargetError. */
export async function settingsOf(rows: BackupRows, bucket: BucketRecord): Promise<BucketSettings> {
  const { id, defaultRetention = null } = bucket
  const policy = await rows.get(bucketKeys.bucketPolicy(id))
  const cors = bucket.hasCors ? await rows.get(bucketKeys.cors(id)) : undefined
  const lifecycle = bucket.hasLifecycle ? await rows.get(lifecycleKeys.lifecycle(id)) : undefined
  const tags = await rows.get(bucketKeys.bucketTags(id))
  return {
    defaultRetention,
    policy: policy?.policy ?? null,
    cors: cors?.rules ?? null,
    // Their days count from times of the backup: enabled, they would remove what was just brought back.
    lifecycle: lifecycle?.rules.map((rule) => ({ ...rule, isEnabled: false })) ?? null,
    tags: tags?.tags ?? null,
  }
}

/** Throws TargetError. */
export async function tenantSettingsOf(rows: BackupRows, tenantId: string): Promise<TenantSettings> {
  return {
    quota: undated(await rows.get(usageKeys.quota(tenantId))),
    limits: undated(await rows.get(limitKeys.limits(tenantId))),
  }
}

function undated<R extends { readonly updatedAt: number }>(row: R | undefined): Omit<R, 'updatedAt'> | null {
  if (row === undefined) return null
  const { updatedAt: _, ...rest } = row
  return rest
}

/** Throws TargetRefused when no master key here opens them. */
export function keysOf(tenant: TenantRecord, masterKey: Pick<MasterKey, 'open'>): KeyRing {
  return opened(tenant, () => new ChunkKeys(masterKey).of(tenant))
}

/** The key of chunk ids: with it a new tenant has the ids, and shares, as the one of the backup does. Throws TargetRefused. */
export function dedupKeyOf(tenant: TenantRecord, masterKey: Pick<MasterKey, 'open'>): Uint8Array {
  return opened(tenant, () => masterKey.open(tenant.dedupKey, tenantDedupKey(tenant.id)))
}

function opened<T>(tenant: TenantRecord, open: () => T): T {
  try {
    return open()
  } catch (cause) {
    throw new TargetRefused(
      `The keys of tenant "${tenant.id}" do not open under any master key of security.master_key_file: name the key file of the cluster that made the backup`,
      { cause },
    )
  }
}
