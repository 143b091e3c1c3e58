/**
 * Gives the router of one plane its paths: the routes of the contract, the one path of the compatibility API, pages for browsers.
 *
 * Knows nothing of: what any of them does.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Services } from '../operations/base/services.ts'
import { methodsOf, pathsOf, type Plane } from './plane.ts'
import type { Gate } from './proved-request.ts'
import { routerPath } from './routable-url.ts'
import type { RouteDefinition } from './route.ts'
import { DOCUMENTATION, servePages } from './serve-pages.ts'
import { serveRoute } from './serve-route.ts'

/** To the router, the path of every request of the compatibility API. A client that asks for this very path means that API too: it lies below no mount. */
export const COMPATIBILITY_PATH = '/-/compatibility'

interface Parts {
  readonly services: Services
  readonly plane: Plane
  readonly gate: Gate
  /** Refuses a request as one for a path that does not exist. */
  readonly unknown: (request: FastifyRequest) => Promise<never>
}

export function mountRoutes(server: FastifyInstance, parts: Parts): void {
  const { services, plane, gate } = parts
  for (const route of plane.routes) mountRoute(server, parts, route)
  mountPages(server, parts)
  mountLogIn(server, parts)
  if (plane.compatibilityApi === undefined) return
  server.route({
    method: [...server.supportedMethods],
    url: COMPATIBILITY_PATH,
    config: { isCompatibility: true },
    handler: plane.compatibilityApi.serve(services, gate),
  })
}

function mountRoute(server: FastifyInstance, { services, plane, gate }: Parts, route: RouteDefinition): void {
  const handler = serveRoute(services, plane, route, gate)
  for (const path of pathsOf(plane, route)) {
    server.route({
      method: [...methodsOf(plane, route)],
      url: routerPath(path, route),
      config: { operation: route.operation, auth: route.auth },
      handler,
    })
  }
}

function mountLogIn(server: FastifyInstance, { services, plane: { logIn }, gate, unknown }: Parts): void {
  if (logIn === undefined) return
  for (const { method, url, operation, handler } of logIn.routes({ services, gate, unknown }))
    server.route({ method, url, config: { operation }, handler })
}

/** Where a request may be for a page or not, the router must not name it an operation before that is known. */
function mountPages(server: FastifyInstance, { services, plane, gate, unknown }: Parts): void {
  const { pages } = plane
  if (pages === undefined) return
  const handler = servePages(services, pages, { gate, unknown })
  const method = ['GET', 'HEAD']
  for (const url of pages.open) server.route({ method, url, config: { operation: DOCUMENTATION }, handler })
  for (const url of pages.asked) server.route({ method, url, handler })
}
