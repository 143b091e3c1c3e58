/**
 * The admin listener of a node that cannot open its master key yet: it lives, it is not ready, and it says why.
 *
 * Owns: those two answers. Knows nothing of: tokens, the cluster, the provider of the key.
 * Rule: nothing that needs a credential is answered otherwise than with 503.
 */
import Fastify, { type FastifyInstance } from 'fastify'
import { Condition, type Logger } from '../../../cluster/index.ts'
import type { Config } from '../../config/types.ts'
import { ClientAddresses } from '../admission/client-address.ts'
import { PLAIN_EDGE } from '../edge.ts'
import { listenerServer } from '../listener-server.ts'
import { ListenerTls } from '../listener-tls.ts'
import { NO_COMPILERS } from '../no-compilers.ts'
import { expectedProblem } from '../problem.ts'
import { newRequestId } from '../request-id.ts'
import { pathOf } from '../request-target.ts'
import { problemBytes } from '../send-answer.ts'

const FRESH = { 'cache-control': 'no-store' }
/** Probes send none. bytes */
const BODY_BYTES_MAX = 1024

/** `reason`: what is missing now. */
export function createWaitingServer(config: Config, logger: Logger, reason: () => string): FastifyInstance {
  const { listeners, limits, adminTls } = config
  const edge = { ...PLAIN_EDGE, tls: adminTls === null ? null : new ListenerTls('admin', adminTls) }
  const addresses = new ClientAddresses(listeners)
  const { connectionsMax } = limits
  const { proxyProtocol } = listeners
  const server = Fastify({
    logger: false,
    genReqId: newRequestId,
    requestIdHeader: false,
    bodyLimit: BODY_BYTES_MAX,
    forceCloseConnections: true,
    schemaController: { compilersFactory: NO_COMPILERS },
    serverFactory: (onRequest) =>
      listenerServer({ edge, connectionsMax, addresses, proxyProtocol, logger, onRequest }),
  })
  server.get('/healthz', async (_, reply) => reply.headers(FRESH).send({ status: 'ok' }))
  server.setNotFoundHandler(async (request, reply) => {
    const missing = new Condition(
      'leader_not_ready',
      `Node "${config.node.id}" is not ready: it waits for its master key: ${reason()}`,
    )
    const context = { requestId: request.id, instance: pathOf(request.url), challenge: 'bearer' } as const
    const problem = expectedProblem(missing, context)
    if (problem === null) throw missing
    return reply
      .code(problem.status)
      .headers({ ...FRESH, ...problem.headers, 'x-request-id': request.id })
      .type('application/problem+json')
      .send(problemBytes(problem))
  })
  return server
}
