/**
 * The server of the public listener.
 */
import type { FastifyInstance } from 'fastify'
import type { Services } from '../../operations/base/services.ts'
import { type Edge, PLAIN_EDGE } from '../edge.ts'
import { createHttpServer } from '../http-server.ts'
import { dataPlane } from '../native/routes.ts'
import { s3Api } from '../s3/s3-api.ts'
import { NO_METER, type RequestMeter } from '../request-log.ts'

export function createDataServer(
  services: Services,
  meter: RequestMeter = NO_METER,
  edge: Edge = PLAIN_EDGE,
): FastifyInstance {
  return createHttpServer(services, { ...dataPlane, compatibilityApi: s3Api }, meter, edge)
}
