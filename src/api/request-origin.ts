/**
 * What is recorded of a request: with each change that it asks for, and in its row of the audit log.
 *
 * Owns: the reading of those facts. Knows nothing of: who writes them down.
 * Rule: every text has a bound, and none is a secret: no header but the name of the client, no query, of a body only the reason.
 */
import type { FastifyRequest } from 'fastify'
import type { Principal } from '../access/base/principal.ts'
import type { Actor, Origin } from '../state-machine/base/origin.ts'
import { clientAddress } from './admission/client-address.ts'
import type { Exchange } from './exchange.ts'
import type { Plane } from './plane.ts'
import { originForm, pathOf } from './request-target.ts'
import type { RouteDefinition } from './route.ts'

const USER_AGENT_CHARACTERS_MAX = 256
const REASON_CHARACTERS_MAX = 1024
const PATH_CHARACTERS_MAX = 4096
const NAME_CHARACTERS_MAX = 1024
/** Parameters of admin paths that name a tenant. */
const OF_A_TENANT = '/tenants/{id}'

export interface AskedFor {
  readonly plane: Plane
  /** Null: no route was meant. */
  readonly route: RouteDefinition | null
  readonly principal: Principal | null
  readonly params: Readonly<Record<string, string>>
  readonly query: unknown
  readonly body: unknown
  readonly request: FastifyRequest
  readonly exchange: Exchange
}

/** What both kinds of rows say. */
export type RequestFacts = Omit<Origin, 'successStatus' | 'elapsedMs'>

export function factsOf(asked: AskedFor, nodeId: string): RequestFacts {
  const { plane, route, principal, params, query, body, request, exchange } = asked
  return {
    requestId: request.id,
    api: plane.api,
    operation: route?.operation.id ?? 'unknown',
    method: request.method,
    path: pathOf(originForm(request.originalUrl)).slice(0, PATH_CHARACTERS_MAX),
    actor: actorOf(principal),
    tenantId:
      principal?.tenantId ?? (route?.path.startsWith(OF_A_TENANT) === true ? named(params['id']) : null),
    bucket: named(params['bucket']),
    key: named(params['key']),
    versionId: named(textIn(query, 'versionId')),
    reason: (reasonOfUrl(principal) ?? textIn(body, 'reason'))?.slice(0, REASON_CHARACTERS_MAX) ?? null,
    sourceIp: clientAddress(request),
    userAgent: request.headers['user-agent']?.slice(0, USER_AGENT_CHARACTERS_MAX) ?? null,
    bytesIn: exchange.receivedBytes,
    nodeId,
  }
}

function actorOf(principal: Principal | null): Actor {
  if (principal === null) return { type: 'anonymous', id: null, role: null }
  if (principal.kind === 'adminToken')
    return { type: 'adminToken', id: principal.tokenId, role: principal.role }
  const { signedUrl, accessKeyId } = principal
  return signedUrl === null
    ? { type: 'accessKey', id: accessKeyId, role: null }
    : { type: 'signedUrl', id: signedUrl.jti, role: null, accessKeyId }
}

/** The reason that its minter gave is recorded with each use. [native: Signed URL token] */
function reasonOfUrl(principal: Principal | null): string | null {
  return principal?.kind === 'accessKey' ? (principal.signedUrl?.reason ?? null) : null
}

/** As much of a name as a row of the audit log keeps. */
export function named(text: string | null | undefined): string | null {
  return text?.slice(0, NAME_CHARACTERS_MAX) ?? null
}

function textIn(fields: unknown, name: string): string | null {
  if (typeof fields !== 'object' || fields === null) return null
  const value = (fields as Record<string, unknown>)[name]
  return typeof value === 'string' ? value : null
}
