/**
 * The routes of backups: parse the call, run one operation, dress the outcome.
 */
import Type, { type Static } from 'typebox'
import {
  type FinishedBackup,
  type FoundBackup,
  type ShownBackup,
  getClusterBackup,
  listClusterBackups,
} from '../../operations/backups/backup-lookups.ts'
import { planRestore, restoreBackup, type RestorePlan } from '../../operations/backups/restore-backup.ts'
import { createBackup, planBackup } from '../../operations/backups/create-backup.ts'
import { planVerification, verifyClusterBackup } from '../../operations/backups/verify-backup.ts'
import { BACKUP } from '../examples/names.ts'
import { adminRoute, type Answer } from '../route.ts'
import { orNull, PAGE_END_SCHEMA, pageEnd, Time, timeText } from '../wire.ts'
import { longOperationRoute } from './mutation.ts'
import { PageQuery, REASON } from './queries.ts'

const Count = Type.Integer({ minimum: 0 })
const TargetText = Type.String({
  maxLength: 512,
  description:
    'Where the backup lies: directory: and a folder below backup.directory, such as directory:weekly',
})
const NewBackup = Type.Object(
  {
    target: TargetText,
    tenantId: Type.Optional(
      Type.String({
        maxLength: 128,
        description: 'Only what belongs to this tenant, and the keys that open it',
      }),
    ),
    maxBytesPerSecond: Type.Optional(
      Type.Integer({ minimum: 1, description: 'That are sent to the target, on average' }),
    ),
    ...REASON,
  },
  { additionalProperties: false },
)
const BackupQuery = Type.Object({ target: TargetText }, { additionalProperties: false })
const BackupsQuery = Type.Object(
  { ...PageQuery.properties, target: TargetText },
  { additionalProperties: false },
)

export const BackupView = Type.Object(
  {
    backupId: Type.String(),
    clusterId: Type.String(),
    tenantId: orNull(Type.String({ description: 'It holds this tenant alone; null: the whole cluster' })),
    version: Type.String({ description: 'Of the program that wrote it' }),
    cutAt: Time,
    startedAt: Time,
    finishedAt: Time,
    index: Type.Integer({ minimum: 0, description: 'The last entry of the log that it contains' }),
    featureLevel: Count,
    checksum: Type.String({
      description: 'Of its rows; of a whole cluster the one on which the nodes agree. Hex',
    }),
    rows: Count,
    chunks: Count,
    chunkBytes: Count,
    sentChunks: Type.Integer({ minimum: 0, description: 'For this backup; the target had the rest' }),
    sentBytes: Count,
    missingCount: Type.Integer({ minimum: 0, description: 'Chunks that no copy could provide' }),
    missing: Type.Array(Type.String(), {
      description: 'The first 1,000 of them, by their names in the target',
    }),
  },
  { additionalProperties: false },
)
const VerificationView = Type.Object(
  {
    operationId: Type.String(),
    startedAt: Time,
    finishedAt: Time,
    rows: Count,
    chunks: Type.Integer({ minimum: 0, description: 'That are whole' }),
    damageCount: Type.Integer({
      minimum: 0,
      description: 'Parts that are missing, damaged or do not open',
    }),
    damages: Type.Array(
      Type.Object({
        name: Type.String({ description: 'In the target' }),
        what: Type.Enum(['missing', 'damaged', 'unreadable']),
        why: Type.String(),
      }),
      { description: 'The first 1,000' },
    ),
    versionCount: orNull(
      Type.Integer({
        minimum: 0,
        description:
          'Versions that need a damaged chunk, of the first 10,000 of these; null: the rows of the backup are damaged',
      }),
    ),
    versions: Type.Array(
      Type.Object({
        tenantId: Type.String(),
        bucket: Type.String(),
        key: Type.String(),
        versionId: Type.String(),
      }),
      { description: 'The first 1,000' },
    ),
    auditRows: Type.Integer({ minimum: 0, description: 'Rows of the audit log in damaged chunks' }),
  },
  { additionalProperties: false },
)
export const ShownBackupView = Type.Object(
  {
    ...BackupView.properties,
    verification: orNull(VerificationView),
  },
  { additionalProperties: false },
)
const VerifyBody = Type.Object(
  {
    target: TargetText,
    maxBytesPerSecond: Type.Optional(
      Type.Integer({ minimum: 1, description: 'That are read from the target, on average' }),
    ),
    ...REASON,
  },
  { additionalProperties: false },
)
const ListedView = Type.Object({
  backupId: Type.String(),
  backup: orNull(BackupView),
  problem: orNull(Type.String({ description: 'Why its manifest cannot be read' })),
})
const RestoreBody = Type.Object(
  {
    target: TargetText,
    clusterId: Type.Optional(
      Type.String({ maxLength: 64, description: 'Of the cluster that made the backup; absent: this one' }),
    ),
    tenant: Type.String({
      minLength: 1,
      maxLength: 256,
      description: 'Of the backup: its id, or a name that only one has',
    }),
    bucket: Type.Optional(
      Type.String({ minLength: 1, maxLength: 63, description: 'Of that tenant; absent: the whole tenant' }),
    ),
    toTenant: Type.String({
      minLength: 1,
      maxLength: 63,
      description: 'The id of the new tenant; for a bucket, of a tenant that exists',
    }),
    toTenantName: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description: 'Of the new tenant; absent: as it was called',
      }),
    ),
    toBucket: Type.Optional(
      Type.String({ maxLength: 63, description: 'The new bucket; absent: as it was called' }),
    ),
    maxBytesPerSecond: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Plain bytes that are read from the backup, on average' }),
    ),
    ...REASON,
  },
  { additionalProperties: false },
)
const RestorePlanView = Type.Object({
  cutAt: Time,
  tenantId: Type.String({ description: 'Of the backup' }),
  bucket: orNull(Type.String()),
  toTenantId: Type.String(),
  toTenantName: orNull(Type.String({ description: 'Null: the tenant exists' })),
  toBucket: orNull(Type.String()),
  buckets: Count,
  versions: Count,
  deleteMarkers: Count,
  bytes: Type.Integer({ minimum: 0, description: 'Plain ones of all versions' }),
  missingChunks: Type.Integer({ minimum: 0, description: 'That the whole backup does not have' }),
})
const BackupPage = Type.Object({ backups: Type.Array(ListedView), ...PAGE_END_SCHEMA })

export const backupRoutes = [
  longOperationRoute(
    createBackup,
    {
      method: 'POST',
      path: '/cluster/backups',
      summary:
        'Back the cluster, or one tenant, up as it is at one entry of the log; the target gets what it does not have yet',
      status: 202,
      body: { schema: NewBackup },
      plan: Type.Object({
        target: Type.String(),
        tenantId: orNull(Type.String()),
        backups: Type.Integer({ minimum: 0, description: 'Of this cluster, that the target has already' }),
        chunks: Type.Integer({
          minimum: 0,
          description: 'Of what is backed up; what the target has is not sent',
        }),
        chunkBytes: Count,
      }),
      example: { body: { target: 'directory:weekly', reason: 'Before the upgrade' } },
    },
    {
      run: (services, principal, { body }) => createBackup(services, principal, body),
      plan: (services, { body }) => planBackup(services, body),
    },
  ),

  longOperationRoute(
    restoreBackup,
    {
      method: 'POST',
      path: '/cluster/backups/{backupId}/restore',
      summary: 'Bring a tenant, or one of its buckets, back from a backup beside what there is now',
      description:
        'The destination is a new tenant, or a new bucket of a tenant that exists. Nothing but the restore writes to it until it has been compared with the backup.',
      status: 202,
      body: { schema: RestoreBody },
      plan: RestorePlanView,
      example: {
        params: BACKUP,
        body: {
          target: 'directory:weekly',
          tenant: 'acme',
          bucket: 'photos',
          toTenant: 'acme',
          toBucket: 'photos-of-friday',
          reason: 'Deleted by mistake',
        },
      },
    },
    {
      run: (services, principal, { params, body }) =>
        restoreBackup(services, principal, { ...params, ...body }),
      plan: async (services, { params, body }) => {
        const { plan, warnings } = await planRestore(services, { ...params, ...body })
        return { plan: restorePlanView(plan), warnings }
      },
    },
  ),

  adminRoute(
    listClusterBackups,
    {
      method: 'GET',
      path: '/cluster/backups',
      summary: 'List the finished backups of this cluster in a target, the oldest first',
      query: BackupsQuery,
      success: {
        status: 200,
        description: 'One page of backups',
        content: { type: 'application/json', schema: BackupPage },
      },
      example: { query: { target: 'directory:weekly', limit: '100' } },
    },
    async (services, principal, { query: { target, limit, continuationToken } }): Promise<Answer> => {
      const page = await listClusterBackups(services, principal, { target, limit, continuationToken })
      const backups = page.backups.map(listedView)
      return { kind: 'json', body: { backups, ...pageEnd(page.nextContinuationToken) } }
    },
  ),

  adminRoute(
    getClusterBackup,
    {
      method: 'GET',
      path: '/cluster/backups/{backupId}',
      summary: 'Get what a finished backup contains, and what its last verification by a node has found',
      query: BackupQuery,
      success: {
        status: 200,
        description: 'The backup',
        content: { type: 'application/json', schema: ShownBackupView },
      },
      example: { params: BACKUP, query: { target: 'directory:weekly' } },
    },
    async (services, principal, { params, query }): Promise<Answer> => {
      return {
        kind: 'json',
        body: shownView(await getClusterBackup(services, principal, { ...params, ...query })),
      }
    },
  ),

  longOperationRoute(
    verifyClusterBackup,
    {
      method: 'POST',
      path: '/cluster/backups/{backupId}/verify',
      summary: 'Read everything of a backup back, open it, and name what is damaged',
      description:
        'The node on duty reads it. The operation fails where something is missing, damaged or does not open; the backup shows what, and which versions need it.',
      status: 202,
      body: { schema: VerifyBody },
      plan: Type.Object({
        target: Type.String(),
        backupId: Type.String(),
        rows: Count,
        chunks: Count,
        chunkBytes: Type.Integer({ minimum: 0, description: 'That are read' }),
      }),
      example: { params: BACKUP, body: { target: 'directory:weekly', reason: 'Quarterly check' } },
    },
    {
      run: (services, principal, { params, body }) =>
        verifyClusterBackup(services, principal, { ...params, ...body }),
      plan: (services, { params, body }) => planVerification(services, { ...params, ...body }),
    },
  ),
]

function restorePlanView({ restore, ...plan }: RestorePlan): Static<typeof RestorePlanView> {
  const { from, to } = restore
  const { cutAt, buckets, versions, deleteMarkers, bytes, missingChunks } = plan
  return {
    cutAt: timeText(cutAt),
    ...from,
    toTenantId: to.tenantId,
    toTenantName: to.tenantName,
    toBucket: to.bucket,
    buckets,
    versions,
    deleteMarkers,
    bytes,
    missingChunks,
  }
}

function listedView({ backupId, manifest, problem }: FoundBackup): Static<typeof ListedView> {
  return { backupId, backup: manifest && backupView(manifest), problem }
}

function shownView({ manifest, report }: ShownBackup): Static<typeof ShownBackupView> {
  return { ...backupView(manifest), verification: report && verificationView(report) }
}

function verificationView(report: NonNullable<ShownBackup['report']>): Static<typeof VerificationView> {
  const { operationId, startedAt, finishedAt, damages, versions, ...counts } = report
  return {
    operationId,
    startedAt: timeText(startedAt),
    finishedAt: timeText(finishedAt),
    rows: counts.rows,
    chunks: counts.chunks,
    damageCount: counts.damageCount,
    damages: [...damages],
    versionCount: counts.versionCount,
    versions: [...versions],
    auditRows: counts.auditRows,
  }
}

function backupView(manifest: FinishedBackup): Static<typeof BackupView> {
  const { backupId, clusterId, version, index, featureLevel, checksum, rows, chunks, chunkBytes } = manifest
  const { cutAt, startedAt, finishedAt, sentChunks, sentBytes, missingCount, missing } = manifest
  return {
    backupId,
    clusterId,
    tenantId: manifest.tenantId ?? null,
    version,
    index,
    featureLevel,
    checksum,
    rows,
    chunks,
    chunkBytes,
    cutAt: timeText(cutAt),
    startedAt: timeText(startedAt),
    finishedAt: timeText(finishedAt),
    sentChunks,
    sentBytes,
    missingCount,
    missing: [...missing],
  }
}
