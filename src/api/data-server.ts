/**
 * The server of the public listener.
 */
import type { FastifyInstance } from 'fastify'
import type { Services } from '../operations/services.ts'
import { createHttpServer } from './http-server.ts'
import { dataPlane } from './native/routes.ts'
import type { ObserveRequest } from './request-log.ts'

export function createDataServer(services: Services, observe: ObserveRequest = () => {}): FastifyInstance {
  return createHttpServer(services, dataPlane, observe)
}
