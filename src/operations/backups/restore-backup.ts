/**
 * restoreBackup: authorize -> read -> backup opens -> what is asked for is in it -> destination is free and has room -> reason -> commit. The node on duty
 * restores afterwards, step by step. [docs/adr/0094-restore-into-the-running-cluster.md]
 */
import { adminToken } from '../../access/rights.ts'
import type { Manifest } from '../../backup/format/manifest.ts'
import { isBackupId } from '../../backup/format/names.ts'
import { openSource } from '../../backup/restore-into/opened-source.ts'
import { bucketsOf, type Figures, figuresOf, ScopeUnknown } from '../../backup/restore-into/source-scope.ts'
import { Refusal } from '../../base/refusal.ts'
import { newOperationId } from '../../commands/operation-id.ts'
import { settle } from '../../commands/settle.ts'
import { bucketKeys } from '../../state-machine/buckets/keys.ts'
import type { LongOperation, RestoreScope } from '../../state-machine/long-operations/records.ts'
import { tenantKeys } from '../../state-machine/tenants/keys.ts'
import { quotaFault } from '../../state-machine/usage/quota.ts'
import type { Plan } from '../base/dry-run.ts'
import { adminOperation } from '../base/operation.ts'
import { givenReason } from '../base/reason.ts'
import type { Services } from '../base/services.ts'
import { noTarget } from '../base/targets.ts'
import { newBucketNameFault } from '../buckets/bucket-name.ts'
import { isTenantId } from '../tenants/tenant-id.ts'
import { withTarget } from './target-refusals.ts'

export interface RestoreInput {
  readonly backupId: string
  readonly target: string
  /** That made the backup; absent: this one. */
  readonly clusterId?: string
  /** Of the backup: id, or a name that only one has. */
  readonly tenant: string
  /** Of that tenant; absent: all its buckets, with the tenant. */
  readonly bucket?: string
  /** A new one for a tenant; one that exists for a bucket. */
  readonly toTenant: string
  /** Of a new tenant; absent: as it was called. */
  readonly toTenantName?: string
  /** A new one; only for a bucket. Absent: as it was called. */
  readonly toBucket?: string
  /** That are read from the backup; absent: no limit. */
  readonly maxBytesPerSecond?: number
  readonly reason: string
}

export const restoreBackup = adminOperation(
  {
    id: 'restoreBackup',
    requires: adminToken('owner', 'cluster'),
    refuses: [
      'invalid_argument',
      'invalid_bucket_name',
      'not_found',
      'precondition_failed',
      'already_exists',
      'bucket_already_exists',
      'quota_exceeded',
    ],
    target: noTarget,
  },
  async (services, principal, input: RestoreInput): Promise<LongOperation> => {
    const { restore } = await scopeOf(services, input)
    const reason = givenReason(input.reason, 'restore from a backup')
    const tenantId = restore.to.tenantName === null ? restore.to.tenantId : null
    const scope = { tenantId, bucket: null, node: null }
    const maxBytesPerSecond = input.maxBytesPerSecond ?? null
    const by = {
      operationId: newOperationId(),
      kind: 'backupRestore',
      requestedBy: principal.tokenId,
    } as const
    return settle(
      await services.propose({ type: 'startOperation', ...by, reason, ...scope, maxBytesPerSecond, restore }),
    )
  },
)

export interface RestorePlan extends Figures {
  readonly cutAt: number
  /** Chunks that the whole backup does not have. */
  readonly missingChunks: number
  readonly restore: RestoreScope
}

export async function planRestore(services: Services, input: RestoreInput): Promise<Plan<RestorePlan>> {
  const plan = await scopeOf(services, input)
  const warnings = [
    'Webhooks, replication, access keys, accounts and unfinished uploads do not come back; versions get other ids, in the same order',
    ...(plan.missingChunks === 0
      ? []
      : [
          `The backup is incomplete: it misses ${plan.missingChunks} chunks, and versions that need them do not come back`,
        ]),
  ]
  return { plan, warnings }
}

/** Throws Refusal. */
async function scopeOf(services: Services, input: RestoreInput): Promise<RestorePlan> {
  const { backupId, target: text, bucket = null } = input
  if (!isBackupId(backupId)) throw new Refusal('not_found', `There is no backup "${backupId.slice(0, 64)}"`)
  const clusterId = input.clusterId ?? services.cluster.clusterId
  return withTarget(services, text, async (target) => {
    const scope = { clusterId, backupId, tenant: input.tenant }
    const { reader, rows, tenant } = await openSource(target, scope, services.backups.masterKey).catch(
      unknownScope,
    )
    checkLevel(services, reader.manifest)
    const from = { tenantId: tenant.id, bucket }
    const to = destinationOf(services, input, tenant.name)
    const figures = await figuresOf(rows, tenant.id, bucket)
    if (bucket !== null) {
      const { value } = await bucketsOf(rows, tenant.id, { bucket }).next()
      if (value === undefined || value === null)
        throw new Refusal('not_found', `The backup has no bucket "${bucket}" of tenant "${tenant.id}"`)
      checkRoom(services, to.tenantId, figures)
    }
    const { manifest } = reader
    const restore = { target: text, clusterId: manifest.clusterId, backupId, from, to }
    return { ...figures, cutAt: manifest.cutAt, missingChunks: manifest.missingCount, restore }
  })
}

/** Rows of a later level may say what this cluster would not keep. Throws Refusal. */
function checkLevel(
  { cluster }: Services,
  { backupId, featureLevel }: Pick<Manifest, 'backupId' | 'featureLevel'>,
): void {
  const { stateLevel } = cluster.membership
  if (featureLevel <= stateLevel) return
  throw new Refusal(
    'precondition_failed',
    `Cannot restore: backup "${backupId}" was made at feature level ${featureLevel}, and this cluster is at ${stateLevel}; upgrade its nodes first`,
  )
}

function unknownScope(error: unknown): never {
  throw error instanceof ScopeUnknown ? new Refusal('not_found', error.message, { cause: error }) : error
}

/** Throws Refusal. */
function destinationOf(
  { state }: Services,
  { bucket, toTenant, toTenantName, toBucket }: RestoreInput,
  tenantName: string,
): RestoreScope['to'] {
  const present = isTenantId(toTenant) ? state.get(tenantKeys.tenant(toTenant)) : undefined
  if (bucket === undefined) {
    if (toBucket !== undefined)
      throw new Refusal(
        'invalid_argument',
        'Cannot restore a tenant into a bucket: name the bucket of the backup too',
      )
    if (!isTenantId(toTenant))
      throw new Refusal(
        'invalid_argument',
        `Cannot restore tenant "${toTenant}": "toTenant" takes 2 to 63 of a-z, 0-9 and "-"`,
      )
    if (present !== undefined)
      throw new Refusal(
        'already_exists',
        `Cannot restore: tenant "${toTenant}" exists already; a tenant is restored under a new id`,
      )
    return { tenantId: toTenant, bucket: null, tenantName: toTenantName ?? tenantName }
  }
  if (toTenantName !== undefined)
    throw new Refusal(
      'invalid_argument',
      'Cannot restore: a bucket goes to a tenant that exists and keeps its name',
    )
  if (present === undefined || present.status !== 'active')
    throw new Refusal(
      'not_found',
      `Cannot restore: there is no active tenant "${toTenant.slice(0, 64)}" for the bucket`,
    )
  const name = toBucket ?? bucket
  const nameFault = newBucketNameFault(name)
  if (nameFault !== null) throw new Refusal('invalid_bucket_name', nameFault)
  if (state.get(bucketKeys.bucket(toTenant, name)) !== undefined)
    throw new Refusal(
      'bucket_already_exists',
      `Cannot restore: bucket "${name}" exists already; give "toBucket" a name that is free`,
    )
  return { tenantId: toTenant, bucket: name, tenantName: null }
}

/** Each step is checked too, since others write meanwhile. Throws Refusal. */
function checkRoom(
  { state }: Services,
  tenantId: string,
  { bytes, objects, versions, deleteMarkers }: Figures,
): void {
  const growth = { bytes, objects, versions: versions + deleteMarkers }
  const fault = state.cut((view) => quotaFault(view, tenantId, growth))
  if (fault !== null) throw new Refusal(fault.code, `Cannot restore: ${fault.message}`)
}
