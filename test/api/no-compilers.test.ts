/**
 * Fastify checks and writes nothing here: a schema in one of its routes is refused when the server starts, and its validator is never loaded.
 */
import t from 'tap'
import { createAdminServer } from '../../src/api/server/admin-server.ts'
import { MemoryServices } from '../helpers/memory-services.ts'
import { METRICS } from './api-world.ts'

const STRINGS = { type: 'object', properties: { a: { type: 'string' } } }

for (const [part, schema] of [
  ['requests', { querystring: STRINGS }],
  ['answers', { response: { 200: STRINGS } }],
] as const) {
  t.test(`a schema of ${part} in a route of fastify is refused`, async (t) => {
    const { services } = await MemoryServices.start(t)
    const server = createAdminServer(services, METRICS)
    server.route({ method: 'GET', url: '/of-fastify', schema, handler: () => null })
    await t.rejects(Promise.resolve(server.ready()), /state it in the definition of the operation/)
    await server.close()
  })
}
