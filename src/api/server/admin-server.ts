/**
 * The server of the admin listener; never reachable through the public one. [admin: intro]
 */
import type { FastifyInstance } from 'fastify'
import type { Services } from '../../operations/base/services.ts'
import type { MetricsPage } from '../admin/metrics.ts'
import { adminPlane } from '../admin/routes.ts'
import { ClientAddresses } from '../admission/client-address.ts'
import { type Edge, PLAIN_EDGE } from '../edge.ts'
import { adminPages } from '../pages/admin-pages.ts'
import { createHttpServer } from '../http-server.ts'
import type { RequestMeter } from '../request-log.ts'
import { CONSOLE_DATA, createConsoleDataServer } from './console-data.ts'

export function createAdminServer(
  services: Services,
  metrics: MetricsPage & RequestMeter,
  edge: Edge = PLAIN_EDGE,
): FastifyInstance {
  const { listeners } = services.config
  const own = { ...edge, addresses: new ClientAddresses(listeners) }
  const plane = { ...adminPlane(metrics), pages: adminPages() }
  if (!listeners.consoleData) return createHttpServer(services, plane, metrics, own)
  const relay = { below: CONSOLE_DATA, server: createConsoleDataServer(services, metrics, own) }
  return createHttpServer(services, plane, metrics, { ...own, relay })
}
