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
import { ConsoleLogIn } from '../log-in/console-log-in.ts'
import { logInOf } from '../log-in/serve-log-in.ts'
import type { RequestMeter } from '../request-log.ts'
import { CONSOLE_DATA, createConsoleDataServer } from './console-data.ts'

export function createAdminServer(
  services: Services,
  metrics: MetricsPage & RequestMeter,
  edge: Edge = PLAIN_EDGE,
): FastifyInstance {
  const { listeners } = services.config
  const own = { ...edge, addresses: new ClientAddresses(listeners) }
  const { oidc } = services.config.console
  const logIn = oidc === null ? null : new ConsoleLogIn(services, oidc)
  const plane = { ...adminPlane(metrics), pages: adminPages(), logIn: logInOf(logIn) }
  const relay = listeners.consoleData
    ? { relay: { below: CONSOLE_DATA, server: createConsoleDataServer(services, metrics, own) } }
    : {}
  const server = createHttpServer(services, plane, metrics, { ...own, ...relay })
  if (logIn !== null) server.addHook('onClose', () => logIn.close())
  return server
}
