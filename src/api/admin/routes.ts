/**
 * Every route of the admin plane, one for each operation id: a missing one does not compile. [decisions 13]
 *
 * `metrics` is what the scraper reads; it comes from the composition root, because the registry is not known here.
 */
import type { AdminOperationId } from '../../access/base/operation-ids.ts'
import { describe, type OpenApiDocument } from '../openapi.ts'
import type { Plane } from '../plane.ts'
import { documentRoute, healthRoute, readinessRoute } from '../probes.ts'
import type { RouteDefinition } from '../route.ts'
import { AccessKeyView, AccessKeyWithSecretView } from './access-key-view.ts'
import { AccountView, accountRoutes } from './accounts.ts'
import { accessKeyRoutes } from './access-keys.ts'
import { bucketPolicyRoutes } from './bucket-policies.ts'
import { auditRoutes } from './audit.ts'
import { membershipRoutes } from './membership.ts'
import { MembershipView } from './membership-view.ts'
import { type MetricsPage, metricsRoute } from './metrics.ts'
import { OperationView } from './operation-view.ts'
import { operationRoutes } from './operations.ts'
import { quotaRoutes, QuotaView } from './quota.ts'
import { repairRoutes, RepairView } from './repair.ts'
import { tenantRoutes, TenantView } from './tenants.ts'
import { ClusterTimeView, timeRoutes } from './time.ts'
import { usageRoutes } from './usage.ts'

export function adminPlane(metrics: MetricsPage): Plane {
  const routes = {
    adminHealthz: healthRoute('adminHealthz'),
    adminReadyz: readinessRoute('adminReadyz'),
    getAdminOpenAPI: documentRoute('getAdminOpenAPI', () => adminDocument()),
    getMetrics: metricsRoute(metrics),
    ...tenantRoutes,
    ...accountRoutes,
    ...accessKeyRoutes,
    ...operationRoutes,
    ...repairRoutes,
    ...timeRoutes,
    ...quotaRoutes,
    ...usageRoutes,
    ...bucketPolicyRoutes,
    ...auditRoutes,
    ...membershipRoutes,
  } satisfies Record<AdminOperationId, RouteDefinition>
  return {
    api: 'admin',
    mount: '/admin/api/v1',
    routes: Object.values(routes),
    strangerAuth: 'admin',
    authenticate: (services, authorization) => services.access.authenticateAdmin(authorization),
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
      'Tenants, their quotas and usage, service accounts, access keys, bucket policies, the audit log, long operations and repair, for operators. Served on the admin listener alone.',
    schemas: {
      Tenant: TenantView,
      Account: AccountView,
      AccessKey: AccessKeyView,
      AccessKeyWithSecret: AccessKeyWithSecretView,
      Operation: OperationView,
      Quota: QuotaView,
      Repair: RepairView,
      ClusterTime: ClusterTimeView,
      Membership: MembershipView,
    },
  })
}
