/**
 * The server of the admin listener; never reachable through the public one. [admin: intro]
 */
import type { FastifyInstance } from 'fastify'
import type { Services } from '../../operations/base/services.ts'
import type { MetricsPage } from '../admin/metrics.ts'
import { adminPlane } from '../admin/routes.ts'
import { type Edge, PLAIN_EDGE } from '../edge.ts'
import { adminPages } from '../pages/admin-pages.ts'
import { createHttpServer } from '../http-server.ts'
import type { RequestMeter } from '../request-log.ts'

export function createAdminServer(
  services: Services,
  metrics: MetricsPage & RequestMeter,
  edge: Edge = PLAIN_EDGE,
): FastifyInstance {
  return createHttpServer(services, { ...adminPlane(metrics), pages: adminPages() }, metrics, edge)
}
