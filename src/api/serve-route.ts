/**
 * The way of every request through the edge, in its fixed order. [style: errors]
 *
 *   token is one of this cluster -> barrier -> authenticated -> parameters -> role, or scope -> query -> body -> operation -> answer
 *
 * Rules: the operation authorizes before its body runs; the edge asks early only where the answer cannot depend on the body, so that for a
 * caller without the right no JSON body is read and no field explained. A read that meets damage of this node's state is done once
 * more, from the barrier on, which waits for the state that takes its place.
 */
import assert from 'node:assert/strict'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { Condition } from '../../cluster/index.ts'
import type { OpenedUrl } from '../access/access.ts'
import { refuseBeforeBody } from '../access/authorize.ts'
import type { Principal } from '../access/base/principal.ts'
import { Refusal } from '../base/refusal.ts'
import type { Services } from '../operations/base/services.ts'
import { clientAddress } from './admission/client-address.ts'
import { UNPROVED_BODY_MS_MAX } from './admission/unproved-callers.ts'
import { admitOrigin, corsHeadersOf } from './cors-headers.ts'
import { Exchange } from './exchange.ts'
import { readDigestHeaders } from './content-digests.ts'
import { readJsonBody, tooLargeForJson, verifyBody } from './json-body.ts'
import { sessionProof } from './sessions/session-proof.ts'
import { type Plane, wildcardDepth } from './plane.ts'
import { admitCaller, connectionOf, type Gate, lookingAgain, reportBroken } from './proved-request.ts'
import { rateHeadersOf } from './rate-headers.ts'
import { passBarrier, takeBasis } from './request-basis.ts'
import { refuseUnsupportedHeaders } from './refused-headers.ts'
import { RequestAudit } from './request-audit.ts'
import { decodeObjectKey, originForm, parseQuery, queryValue, restOfPath } from './request-target.ts'
import type { AuthKind, RouteDefinition } from './route.ts'
import { RoutedCall } from './routed-call.ts'
import { sendAnswer } from './send-answer.ts'
import { bodyCheck, queryReader } from './validate.ts'

const NO_QUERY = Type.Object({}, { additionalProperties: false })

type Params = Readonly<Record<string, string>>

export function serveRoute(
  services: Services,
  plane: Plane,
  route: RouteDefinition,
  gate: Gate,
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> {
  const readBody = bodyReader(route, gate)
  const readQuery = routeQuery(route)
  const serve = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const audit = RequestAudit.of(request)
    audit.routed(route, () => paramsOf(plane, route, request))
    const principal = await prove(services, plane, {
      auth: route.auth,
      request,
      barrier: () => passBarrier(services, { request, reply }, route.operation.isDecidedByEntry === true),
      mayBeLocal: route.mayBeLocal === true,
    })
    audit.principal = principal
    takeBasis(services, request, {
      principal,
      operation: route.operation,
      bucket: routedBucket(request),
    })
    gateProof(gate, route, { principal, address: clientAddress(request) })
    const exchange = Exchange.of(request.raw, reply.raw)
    const kind = { isUpload: route.body.kind === 'bytes', isListing: route.operation.isListing }
    await admitCaller(services, kind, { principal, exchange })
    admitOrigin(services, request, { principal, bucket: routedBucket(request) })
    reply.headers(corsHeadersOf(request)).headers(rateHeadersOf(services, principal))
    const { params } = audit
    askEarly(principal, route, params)
    // Probes and scrapers may send what they like.
    if (!isForProbes(route)) refuseUnsupportedHeaders(route, request.headers)
    const query = readQuery(originForm(request.originalUrl))
    audit.query = query
    const body = await readBody(request, exchange)
    audit.body = body
    const call = new RoutedCall({ request, exchange, audit }, { params, query, body })
    const answer = await route.handle(audit.services(route), principal, call)
    if (route.auth === 'credentials') gate.unproved.proved(clientAddress(request))
    const onBroken = (error: Error): void => reportBroken(services, request, error)
    const onReady = (status: number, bytes: number): Promise<void> => audit.beforeAnswer(status, bytes)
    await sendAnswer(reply, answer, { status: route.success.status, exchange, onReady, onBroken })
  }
  return lookingAgain(services, serve, (error) => advised(error, route))
}

/** Open routes take from the bucket of the address; a proof makes it known. That of credentials is in their body. Throws Refusal rate_limited. */
function gateProof(
  { unproved }: Gate,
  { auth, isProbe }: RouteDefinition,
  { principal, address }: { readonly principal: Principal | null; readonly address: string },
): void {
  if (principal !== null) return unproved.proved(address)
  if (auth === 'credentials' || isProbe === true) return
  const refusal = unproved.count(address)
  if (refusal !== null) throw refusal
}

/** A caller that asks for the members of a cluster without a majority gets the way out, not only the advice to try again. */
function advised(error: unknown, { inOutage }: RouteDefinition): unknown {
  if (inOutage === undefined || !(error instanceof Condition)) return error
  const { code, message, retryAfterMs } = error
  if (code !== 'no_leader' && code !== 'no_quorum') return error
  return new Condition(code, `${message}; ${inOutage}`, { cause: error, retryAfterMs })
}

/**
 * Who asks. The barrier comes before the state is asked, so that a revocation acknowledged anywhere is in force here; and after what a credential says by
 * itself, so that clients that have none cannot make the cluster work. [decisions 1]
 */
export async function prove(
  services: Services,
  plane: Plane,
  call: {
    readonly auth: AuthKind
    readonly request: FastifyRequest
    readonly mayBeLocal?: boolean
    /** Of a bearer token. Absent: that of the cluster. */
    readonly barrier?: () => Promise<void>
  },
): Promise<Principal | null> {
  const { authorization } = call.request.headers
  const { barrier = () => services.cluster.readBarrier() } = call
  switch (call.auth) {
    case 'none':
    case 'credentials':
      return null
    case 'metrics':
      // No barrier: figures are wanted most when there is no quorum to ask.
      return services.config.metrics.public
        ? null
        : services.access.openAdmin(authorization)(connectionOf(call.request))
    case 'bearer':
    case 'admin': {
      const session = call.auth === 'admin' ? sessionProof(services, call.request) : null
      const proof = session ?? plane.openToken(services, authorization)
      if (!isLocalView(call)) await barrier()
      return proof(connectionOf(call.request))
    }
    case 'signedUrl': {
      const url = services.access.openSignedUrl(queryValue(originForm(call.request.originalUrl), 'token'))
      await services.cluster.readBarrier()
      return proveSignedUrl(services, call.request, url)
    }
  }
}

/** A token that was revoked elsewhere may still pass here: what it shows is old as well, and says so. */
function isLocalView({
  mayBeLocal = false,
  request,
}: {
  readonly mayBeLocal?: boolean
  readonly request: FastifyRequest
}): boolean {
  return mayBeLocal && parseQuery(originForm(request.originalUrl))['consistency'] === 'local'
}

/** That a URL has expired its page may read, as long as the key behind it is good: of all refusals it meets this one most. */
function proveSignedUrl(services: Services, request: FastifyRequest, url: OpenedUrl): Principal {
  const connection = connectionOf(request)
  try {
    return url.holder(connection)
  } catch (error) {
    if (error instanceof Refusal && error.code === 'signed_url_expired') {
      const holder = url.formerHolder(connection)
      RequestAudit.of(request).principal = holder
      admitOrigin(services, request, { principal: holder, bucket: routedBucket(request) })
    }
    throw error
  }
}

const routedBucket = ({ params }: FastifyRequest): string | undefined => (params as Params)['bucket']

function askEarly(principal: Principal | null, route: RouteDefinition, params: Params): void {
  const { id: tenantId, bucket, key } = params
  if (principal?.kind === 'adminToken')
    refuseBeforeBody(principal, route.operation, tenantId === undefined ? {} : { tenantId })
  if (principal?.kind === 'accessKey' && route.body.kind === 'json' && bucket !== undefined)
    refuseBeforeBody(principal, route.operation, key === undefined ? { bucket } : { bucket, key })
}

function paramsOf(plane: Plane, route: RouteDefinition, request: FastifyRequest): Params {
  const routed = request.params as Params
  const depth = wildcardDepth(route.path)
  if (depth === null) return routed
  const before = plane.mount.split('/').length - 1 + depth
  return { ...routed, key: decodeObjectKey(restOfPath(originForm(request.originalUrl), before)) }
}

const isForProbes = ({ auth }: RouteDefinition): boolean => auth === 'none' || auth === 'metrics'

function routeQuery(route: RouteDefinition): (target: string) => unknown {
  // Probes and scrapers may append what they like.
  if (route.query === undefined && route.auth === 'none') return () => ({})
  const read = queryReader(route.query ?? NO_QUERY)
  // Mailers and chats append to the links they pass on; nothing beside the token is looked at. [decisions 17]
  if (route.auth === 'signedUrl') return (target) => read({ token: queryValue(target, 'token') ?? '' })
  return (target) => read(parseQuery(target))
}

function bodyReader(
  route: RouteDefinition,
  gate: Gate,
): (request: FastifyRequest, exchange: Exchange) => Promise<unknown> {
  const { body } = route
  if (body.kind === 'bytes') return async () => undefined
  if (body.kind === 'none') return (request, exchange) => refuseBody(route, request, exchange)
  const check = bodyCheck(body.schema)
  const read = route.auth === 'credentials' ? unprovedReader(gate) : readJson
  return async (request, exchange) => {
    const value = exchange.length === 0 ? undefined : await read(request, exchange, body)
    // No body at all is an empty one: each required member is then named as missing.
    const fields = value === undefined ? {} : value
    check(fields)
    return fields
  }
}

interface JsonBounds {
  readonly bytesMax: number
  readonly namesMax: number
  readonly schema: object | null
}

type JsonReader = (request: FastifyRequest, exchange: Exchange, bounds: JsonBounds) => Promise<unknown>

/** Before its sender has proved anything: within a short time, and within the memory for all such senders. */
function unprovedReader({ unproved, after }: Gate): JsonReader {
  return async (request, exchange, bounds) => {
    refuseOtherThanJson(request, exchange, bounds)
    const release = unproved.holdBody(clientAddress(request), exchange.length ?? bounds.bytesMax)
    try {
      const bytes = exchange.bytesWithin({ ms: UNPROVED_BODY_MS_MAX, after })
      return await readVerified(request, bytes, bounds)
    } finally {
      release()
    }
  }
}

const readJson: JsonReader = async (request, exchange, bounds) => {
  refuseOtherThanJson(request, exchange, bounds)
  return readVerified(request, exchange.bytes(), bounds)
}

function readVerified(
  { headers, raw }: FastifyRequest,
  bytes: AsyncIterable<Uint8Array>,
  { bytesMax, schema, namesMax }: JsonBounds,
): Promise<unknown> {
  const claims = readDigestHeaders(headers)
  const names = { schema, namesMax }
  return readJsonBody(bytes, { bytesMax, claims, names, trailers: () => raw.trailers })
}

function refuseOtherThanJson(request: FastifyRequest, exchange: Exchange, { bytesMax }: JsonBounds): void {
  const { length } = exchange
  if (length !== null && length > bytesMax) throw tooLargeForJson(bytesMax)
  const { 'content-type': type = '', 'content-encoding': coding = 'identity' } = request.headers
  if (!['', 'identity'].includes(coding.trim().toLowerCase()))
    throw new Refusal(
      'unsupported_media_type',
      `The body is encoded as "${coding.slice(0, 80)}": send plain JSON`,
      {
        headers: { 'accept-encoding': 'identity' },
      },
    )
  if (!/^application\/json\s*(;\s*charset=("?)utf-8\2\s*)?$/i.test(type.trim())) {
    throw new Refusal(
      'unsupported_media_type',
      `The body is declared as "${type.slice(0, 80)}": send JSON as "application/json"`,
    )
  }
}

const EMPTY_OBJECT_BYTES_MAX = 16
const EMPTY_OBJECT: JsonBounds = { bytesMax: EMPTY_OBJECT_BYTES_MAX, namesMax: 1, schema: null }

function isEmptyObject(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0
  )
}

async function refuseBody(
  route: RouteDefinition,
  request: FastifyRequest,
  exchange: Exchange,
): Promise<undefined> {
  assert(route.body.kind === 'none', 'only asked for routes without a body')
  const { length } = exchange
  if (length === 0) {
    if (!isForProbes(route)) verifyBody(Buffer.alloc(0), readDigestHeaders(request.headers))
    return undefined
  }
  // Generated clients send an empty object where there is nothing to say.
  if (route.method === 'POST' && length !== null && length <= EMPTY_OBJECT_BYTES_MAX) {
    const value = await readJson(request, exchange, EMPTY_OBJECT)
    if (isEmptyObject(value)) return undefined
  }
  throw new Refusal('invalid_request', `Operation "${route.operation.id}" takes no body`)
}
