/**
 * Builds the fastify server of one plane: limits, routes, and every error in the one problem shape.
 *
 * Owns: all that touches fastify's lifecycle. Knows nothing of: what the routes do.
 * Rules: fastify never reads a body and never decodes an object key; nothing leaves here without a request id; a path
 * that does not exist is answered only to a caller whose token is good.
 */
import type { IncomingMessage } from 'node:http'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { Condition } from '../../cluster/index.ts'
import { Refusal } from '../base/refusal.ts'
import type { Operation } from '../operations/base/operation.ts'
import type { Services } from '../operations/base/services.ts'
import { networkOf } from '../base/network-address.ts'
import { clientAddress, ClientAddresses } from './admission/client-address.ts'
import { HeldRefusals } from './admission/held-refusals.ts'
import { UnprovedCallers } from './admission/unproved-callers.ts'
import { BodyPace } from './body-pace.ts'
import { answerClientError } from './client-error.ts'
import { inTurns } from './connection-turns.ts'
import { contentOriginGate } from './content-origin.ts'
import { corsHeadersOf } from './cors-headers.ts'
import { type Edge, PLAIN_EDGE } from './edge.ts'
import { Exchange } from './exchange.ts'
import { HEADER_BYTES_MAX, listenerServer } from './listener-server.ts'
import { SYSTEM_TIME } from './listener-tls.ts'
import { COMPATIBILITY_PATH, mountRoutes } from './mount-routes.ts'
import { allowedMethods, type ErrorAnswer, type Plane, unknownPathAuthAt } from './plane.ts'
import { NO_COMPILERS } from './no-compilers.ts'
import { expectedProblem, unexpectedProblem } from './problem.ts'
import { rateHeadersOf } from './rate-headers.ts'
import { followRelay, relaying } from './relay.ts'
import { RequestAudit } from './request-audit.ts'
import { newRequestId } from './request-id.ts'
import { RequestLog, type RequestMeter } from './request-log.ts'
import { originForm, pathOf } from './request-target.ts'
import { routableUrl } from './routable-url.ts'
import type { AuthKind } from './route.ts'
import { problemBytes, sendError } from './send-answer.ts'
import type { Gate } from './proved-request.ts'
import { prove } from './serve-route.ts'
import { traceRequests } from './trace-requests.ts'
import { takeOverContinue } from './raw/late-continue.ts'
import { silentConnections } from './raw/silent-connections.ts'
import { refuseUnclearRequest } from './unclear-request.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly operation?: Operation
    readonly auth?: AuthKind
    /** The request is one of the compatibility API. */
    readonly isCompatibility?: true
  }
}

export function createHttpServer(
  services: Services,
  plane: Plane,
  meter: RequestMeter,
  edge: Edge = PLAIN_EDGE,
): FastifyInstance {
  const log = new RequestLog(services, meter)
  const { addresses = new ClientAddresses(services.config.listeners), relay } = edge
  const { unproved = new UnprovedCallers(services.config.limits, edge.now), clock = SYSTEM_TIME } = edge
  const after: Gate['after'] = (ms, callback) => clock.after(ms, callback)
  const gate: Gate = { unproved, after }
  const refusals = edge.refusals ?? new HeldRefusals({ now: edge.now, after })
  const toRoutable = routedPath(services, plane)
  const server = Fastify({
    logger: false,
    genReqId: newRequestId,
    requestIdHeader: false,
    trustProxy: false,
    exposeHeadRoutes: false,
    // Our own 503 is a problem body; see closeInOrder.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    serverFactory: (onRequest) => {
      const { config, logger } = services
      const { connectionsMax } = config.limits
      const { proxyProtocol, trustedProxies } = config.listeners
      const served = relay === undefined ? onRequest : relaying(onRequest, relay)
      const listening = { edge, connectionsMax, addresses, proxyProtocol, logger, onRequest: inTurns(served) }
      const { threads } = edge
      return threads === undefined ? listenerServer(listening) : threads({ ...listening, trustedProxies })
    },
    routerOptions: { maxParamLength: HEADER_BYTES_MAX },
    schemaController: { compilersFactory: NO_COMPILERS },
    rewriteUrl: toRoutable,
    frameworkErrors: (error, request, reply) => {
      begin({ request, reply })
      refuseUnknownPath(services, plane, request, undecodable(error)).catch((refusal: unknown) =>
        fail(refusal, request, reply),
      )
    },
    clientErrorHandler: (error, socket) =>
      answerClientError(error, socket, { services, api: plane.api, addresses }),
  })
  const begin = (pair: Pair): void => beginRequest({ services, plane, log, edge }, pair)
  const fail = (error: unknown, request: FastifyRequest, reply: FastifyReply): void =>
    answerError({ services, plane, log, gate, refusals }, { error, request, reply })

  neverParseBodies(server)
  takeOverContinue(server.server)
  const isClosing = closeInOrder(server, edge.tls !== null || services.config.listeners.proxyProtocol)
  server.addHook('preClose', async () => refusals.release())
  checkEach(server, { services, plane, addresses, begin, isClosing })
  server.setErrorHandler((error, request, reply) => fail(error, request, reply))
  const unknown = (request: FastifyRequest): Promise<never> =>
    refuseUnknownPath(services, plane, request, noSuchRoute(plane, request))
  server.setNotFoundHandler(unknown)
  mountRoutes(server, { services, plane, gate, unknown })
  if (relay !== undefined) followRelay(server, relay)
  if (edge.tracer !== undefined) traceRequests(server, edge.tracer)
  return server
}

/** What the router gets to see of the target of a request. */
function routedPath(
  { config }: Services,
  plane: Plane,
): (request: Pick<IncomingMessage, 'method' | 'url' | 'headers'>) => string {
  const toRoutable = routableUrl(plane)
  return ({ method = '', url = '/', headers }) => {
    if (plane.compatibilityApi?.isMeant(config, url, headers.host) === true) return COMPATIBILITY_PATH
    return toRoutable(method, url)
  }
}

/** The pipeline reads bodies itself, after the caller is known, so for fastify no method has one. */
function neverParseBodies(server: FastifyInstance): void {
  for (const method of server.supportedMethods) {
    server.addHttpMethod(method, { hasBody: false, overrideExisting: true })
  }
}

/**
 * Once close() has started: what runs is finished, what comes is refused, and no connection outlives its last answer.
 * Without it a kept-alive connection would hold the node back until its time-out. `hasPreamble`: as for `silentConnections`.
 * Returns what a request asks when it comes: whether it is too late.
 */
function closeInOrder(server: FastifyInstance, hasPreamble: boolean): (reply: FastifyReply) => boolean {
  let closing = false
  const destroySilent = silentConnections(server.server, hasPreamble)
  server.addHook('preClose', async () => {
    closing = true
    destroySilent()
  })
  server.addHook('onSend', (_request, reply, payload, done) => {
    if (closing) reply.header('connection', 'close')
    done(null, payload)
  })
  return (reply) => {
    // For bodies whose headers are out already when the closing begins.
    if (!closing)
      reply.raw.once('close', () => {
        if (closing) setImmediate(() => server.server.closeIdleConnections())
      })
    return closing
  }
}

interface Checks {
  readonly services: Services
  readonly plane: Plane
  readonly addresses: ClientAddresses
  readonly begin: (pair: Pair) => void
  readonly isClosing: (reply: FastifyReply) => boolean
}

/** What is refused of any request before its route begins. One hook and no promise: each takes as long as a small answer. */
function checkEach(server: FastifyInstance, { services, plane, addresses, begin, isClosing }: Checks): void {
  const gateOrigin = contentOriginGate(services.config, plane)
  server.addHook('onRequest', (request, reply, done) => {
    begin({ request, reply })
    try {
      addresses.admit(request.raw)
      refuseUnclearRequest(request, reply)
      if (isClosing(reply))
        throw new Condition('shutting_down', 'This node is shutting down; ask another one')
      gateOrigin(request)
      admit(services, request)
    } catch (error) {
      return done(asError(error))
    }
    done()
  })
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))

interface Pair {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

interface Rooms {
  readonly services: Services
  readonly plane: Plane
  readonly log: RequestLog
  readonly edge: Edge
}

function beginRequest({ services, plane, log, edge }: Rooms, { request, reply }: Pair): void {
  const { bodyBytesPerMinuteMin, answerBytesPerMinuteMin, requestDurationMaxMs } = services.config.limits
  const exchange = Exchange.of(request.raw, reply.raw)
  const answer = new BodyPace(answerBytesPerMinuteMin)
  exchange.pace = { body: new BodyPace(bodyBytesPerMinuteMin), answer, now: edge.now }
  exchange.deadline = { atMs: edge.now() + requestDurationMaxMs, now: edge.now }
  const api = apiOf(plane, request)
  RequestAudit.begin(services, api, { request, reply })
  log.watch(request, reply, api)
  reply.headers(rateStatusHeaders(services, request))
}

function apiOf({ api, compatibilityApi }: Plane, request: FastifyRequest): 'native' | 'admin' | 's3' {
  return isCompatibility(request) ? (compatibilityApi?.api ?? api) : api
}

const isCompatibility = (request: FastifyRequest): boolean =>
  request.routeOptions.config.isCompatibility === true

/** A request whose audit row could not be kept is not served. The refusal is recorded as that of an unproved caller. */
function admit(services: Services, request: FastifyRequest): void {
  if (request.routeOptions.config.operation?.isRoutine !== true) services.audit.admit()
}

/** Only a caller whose token is good learns what is wrong with the path. Always throws. */
async function refuseUnknownPath(
  services: Services,
  plane: Plane,
  request: FastifyRequest,
  refusal: Refusal,
): Promise<never> {
  const auth = unknownPathAuthAt(plane, pathOf(originForm(request.originalUrl)))
  RequestAudit.of(request).principal = await prove(services, plane, { auth, request })
  throw refusal
}

/** Sent only over TLS: over plain HTTP any node on the way could have put it there. [RFC 6797 7.2] */
const STRICT_TRANSPORT = { 'strict-transport-security': 'max-age=31536000' }

function rateStatusHeaders(services: Services, request: FastifyRequest): Record<string, string> {
  const { nodeId } = services.cluster
  const commonHeaders = {
    'x-request-id': request.id,
    'x-served-by': nodeId,
    'x-content-type-options': 'nosniff',
    ...(request.protocol === 'https' ? STRICT_TRANSPORT : {}),
  }
  const { principal } = RequestAudit.of(request)
  // A page may read of a refusal what it may read of an answer.
  return { ...commonHeaders, ...corsHeadersOf(request), ...rateHeadersOf(services, principal) }
}

interface ErrorParts {
  readonly services: Services
  readonly plane: Plane
  readonly log: RequestLog
  readonly gate: Gate
  readonly refusals: HeldRefusals
}

function answerError(
  { services, plane, log, gate, refusals }: ErrorParts,
  failed: { readonly error: unknown; readonly request: FastifyRequest; readonly reply: FastifyReply },
): void {
  const { request, reply } = failed
  const missed = isRouterMiss(failed.error)
    ? new Refusal('not_found', 'This path does not exist')
    : failed.error
  const audit = RequestAudit.of(request)
  const found = errorAnswer(services, plane, request, missed)
  const limit = audit.principal === null ? countedRefusal(gate, request, found) : null
  const answer = limit === null ? found : errorAnswer(services, plane, request, limit)
  log.failed(request, { code: answer.code, error: limit ?? missed })
  audit.failed(answer.code)
  // What an answer that came to nothing has said of itself is not true of the problem.
  for (const name of Object.keys(reply.getHeaders())) reply.removeHeader(name)
  reply.headers(rateStatusHeaders(services, request))
  const exchange = Exchange.of(request.raw, reply.raw)
  if (exchange.isWaiting) reply.header('connection', 'close')
  const send = (): void => sendError(reply, answer)
  // Where the row cannot be made durable, the caller gets no success and no more can be done.
  const leave = (): unknown => audit.beforeAnswer(answer.status, answer.bytes.length).then(send, send)
  const heldMs = answer.code === 'rate_limited' ? refusals.heldMs(refusedCaller(request)) : 0
  if (heldMs === 0) return void leave()
  // Such an answer costs as little as can be: no line of its own in the log, and next to nothing is read of its body.
  log.repeated(request)
  exchange.drainShortly()
  refusals.hold(heldMs, leave)
  reply.raw.once('close', () => refusals.forget(leave))
}

function errorAnswer(services: Services, plane: Plane, request: FastifyRequest, error: unknown): ErrorAnswer {
  if (plane.compatibilityApi !== undefined && isCompatibility(request))
    return plane.compatibilityApi.errorAnswer(services, request, error)
  const context = {
    requestId: request.id,
    instance: pathOf(originForm(request.originalUrl)),
    challenge: request.routeOptions.config.auth === 'credentials' ? 'credentials' : 'bearer',
  } as const
  const problem = expectedProblem(error, context) ?? unexpectedProblem(context)
  const { status, headers, body } = problem
  return {
    code: body.code,
    status,
    headers,
    contentType: 'application/problem+json',
    bytes: problemBytes(problem),
  }
}

/** Whose refusals are counted together. */
function refusedCaller(request: FastifyRequest): string {
  const { principal } = RequestAudit.of(request)
  if (principal === null) return `address ${networkOf(clientAddress(request))}`
  return principal.kind === 'adminToken' ? `token ${principal.tokenId}` : `key ${principal.accessKeyId}`
}

/** A refusal of a client that has proved nothing takes from the bucket of its address; beyond it, it learns no more than that: what this returns. */
function countedRefusal(
  { unproved }: Gate,
  request: FastifyRequest,
  { code, status }: ErrorAnswer,
): Refusal | null {
  return code === 'rate_limited' || isOwnFault(status) ? null : unproved.count(clientAddress(request))
}

/** That of this node, and not of what it was asked. */
const isOwnFault = (status: number): boolean => status === 500 || status === 503

/** Targets such as "*" that not even the catch-all of the router takes. */
const isRouterMiss = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'FST_ERR_NOT_FOUND'

function undecodable(error: unknown): Refusal {
  return new Refusal('invalid_request', 'The path is not percent-encoded UTF-8', { cause: error })
}

function noSuchRoute(plane: Plane, request: FastifyRequest): Refusal {
  const path = pathOf(originForm(request.originalUrl))
  const allowed = allowedMethods(plane, path)
  // The router decodes what it matches, so that a part may look right and not be.
  if (allowed.length === 0 || allowed.some((method) => method === request.method))
    return new Refusal('not_found', 'This path does not exist')
  const allow = allowed.join(', ')
  return new Refusal('method_not_allowed', `This path does not take ${request.method}, it takes ${allow}`, {
    headers: { allow },
  })
}
