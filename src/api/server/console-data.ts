/**
 * The data API below a path of the admin listener, so that a page of that origin can use it with an access key (docs/adr/0101-console-objects.md).
 *
 * Rules: it is the same routes, proofs, limits and audit rows as on the data listener; nothing is there that a browser would open without a header:
 * no signed URL, no preflight, no S3, so that no stored page or script ever comes from the origin of the console.
 */
import type { FastifyInstance } from 'fastify'
import type { Services } from '../../operations/base/services.ts'
import type { Edge } from '../edge.ts'
import { createHttpServer } from '../http-server.ts'
import { dataPlane } from '../native/routes.ts'
import type { Plane } from '../plane.ts'
import type { RequestMeter } from '../request-log.ts'

export const CONSOLE_DATA = '/console/data'

/** What a token of an access key opens, and where it comes from. */
export const consolePlane: Plane = {
  api: dataPlane.api,
  mount: dataPlane.mount,
  routes: dataPlane.routes.filter(({ auth }) => auth === 'bearer' || auth === 'credentials'),
  unknownPathAuth: dataPlane.unknownPathAuth,
  openToken: dataPlane.openToken,
}

/** `edge`: of the admin listener, which has the connections. */
export function createConsoleDataServer(
  services: Services,
  meter: RequestMeter,
  edge: Edge,
): FastifyInstance {
  return createHttpServer(services, consolePlane, meter, { ...edge, tls: null })
}
