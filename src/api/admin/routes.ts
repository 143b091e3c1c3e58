/**
 * Every route of the admin plane, one for each operation, in the order of the API document. [decisions 13]
 *
 * `metrics` is the page that the scraper reads. It comes from the composition root, because the registry is not known here.
 */
import { dataPlane } from '../native/routes.ts'
import { describe, type OpenApiDocument } from '../openapi.ts'
import type { Plane } from '../plane.ts'
import { documentRoute, healthRoute, readinessRoute } from '../probes.ts'
import type { RouteDefinition } from '../route.ts'
import { AccessKeyView, AccessKeyWithSecretView } from './access-key-view.ts'
import { accessKeyRoutes } from './access-keys.ts'
import { accessTestRoute, AccessTestView } from './access-test.ts'
import { accountRoutes, AccountView } from './accounts.ts'
import { approvalRoutes, ApprovalView } from './approvals.ts'
import { auditChainRoute, VerifiedPartView } from './audit-chain.ts'
import { auditRoutes } from './audit.ts'
import { ClusterEncryptionView, clusterEncryptionRoute } from './cluster-encryption.ts'
import { changeRoutes } from './changes.ts'
import { BackupScheduleView, backupScheduleRoutes } from './backup-schedules.ts'
import { backupTargetRoutes, BackupTargetView } from './backup-targets.ts'
import { backupRoutes, BackupView, ShownBackupView } from './backups.ts'
import { bucketPolicyRoutes } from './bucket-policies.ts'
import { encryptionRoutes, TenantEncryptionView } from './encryption.ts'
import { memberDiskRoutes } from './member-disks.ts'
import { memberPlacementRoutes } from './member-placement.ts'
import { MembershipView } from './membership-view.ts'
import { membershipRoutes } from './membership.ts'
import { type MetricsPage, metricsRoute } from './metrics.ts'
import { LongOperationView } from './operation-view.ts'
import { longOperationRoutes } from './operations.ts'
import { ClusterDoctorView, doctorRoutes } from './doctor.ts'
import { historyRoutes, HistoryView } from './history.ts'
import { limitRoutes, TenantLimitsView } from './limits.ts'
import { PolicyView } from './policy-schema.ts'
import { placementPlanRoute } from './placement-plan.ts'
import { placementRoutes, PlacementView } from './placement.ts'
import { quotaRoutes, QuotaView } from './quota.ts'
import { repairRoutes, RepairView } from './repair.ts'
import { sessionRoutes, SessionView } from './session.ts'
import { tenantReplicationRoutes, TenantReplicationView } from './tenant-replication.ts'
import { tenantRoutes, TenantView } from './tenants.ts'
import { ClusterTimeView, timeRoutes } from './time.ts'
import { usageRoutes } from './usage.ts'

export function adminPlane(metrics: MetricsPage): Plane {
  const routes: readonly RouteDefinition[] = [
    healthRoute('adminHealthz'),
    readinessRoute('adminReadyz'),
    documentRoute('getAdminOpenAPI', () => adminDocument()),
    metricsRoute(metrics),
    ...sessionRoutes(() => routes),
    ...tenantRoutes,
    ...encryptionRoutes,
    clusterEncryptionRoute,
    ...tenantReplicationRoutes,
    ...accountRoutes,
    ...accessKeyRoutes,
    accessTestRoute(dataPlane.routes),
    ...longOperationRoutes,
    ...backupRoutes,
    ...backupTargetRoutes,
    ...backupScheduleRoutes,
    ...repairRoutes,
    ...placementRoutes,
    ...changeRoutes,
    ...doctorRoutes,
    ...historyRoutes,
    placementPlanRoute,
    ...memberPlacementRoutes,
    ...memberDiskRoutes,
    ...timeRoutes,
    ...quotaRoutes,
    ...limitRoutes,
    ...usageRoutes,
    ...bucketPolicyRoutes,
    ...approvalRoutes,
    ...auditRoutes,
    auditChainRoute,
    ...membershipRoutes,
  ]
  return {
    api: 'admin',
    mount: '/admin/api/v1',
    routes,
    unknownPathAuth: 'admin',
    openToken: ({ access }, authorization) => access.openAdmin(authorization),
  }
}

export function adminDocument(): OpenApiDocument {
  const plane = adminPlane({
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    render: async () => '',
  })
  return describe(plane, {
    title: 'Holdfast admin plane',
    description:
      'Who a caller is, tenants, their quotas and usage, service accounts, access keys, bucket policies, second approvals, the audit log, long operations and repair, for operators. Served on the admin listener alone.',
    schemas: {
      Session: SessionView,
      Tenant: TenantView,
      TenantEncryption: TenantEncryptionView,
      ClusterEncryption: ClusterEncryptionView,
      TenantReplication: TenantReplicationView,
      Account: AccountView,
      AccessKey: AccessKeyView,
      AccessKeyWithSecret: AccessKeyWithSecretView,
      AccessTest: AccessTestView,
      Operation: LongOperationView,
      Backup: BackupView,
      ShownBackup: ShownBackupView,
      BackupTarget: BackupTargetView,
      BackupSchedule: BackupScheduleView,
      Quota: QuotaView,
      BucketPolicy: PolicyView,
      TenantLimits: TenantLimitsView,
      Approval: ApprovalView,
      VerifiedAuditLog: VerifiedPartView,
      Repair: RepairView,
      Placement: PlacementView,
      ClusterDoctor: ClusterDoctorView,
      ClusterHistory: HistoryView,
      ClusterTime: ClusterTimeView,
      Membership: MembershipView,
    },
  })
}
