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
import { originForm, pathOf } from './request-target.ts'
import type { RouteDefinition } from './route.ts'

/** What a caller who is not proved may write into a row. */
const UNPROVED_CHARACTERS_MAX = 256
const UNPROVED_AGENT_CHARACTERS_MAX = 64
const USER_AGENT_CHARACTERS_MAX = 256
const REASON_CHARACTERS_MAX = 1024
const PATH_CHARACTERS_MAX = 4096
const NAME_CHARACTERS_MAX = 1024
/** Parameters of admin paths that name a tenant. */
const OF_A_TENANT = '/tenants/{id}'

/** What the audit log needs to know of a route. */
export type AuditedRoute = Pick<RouteDefinition, 'operation' | 'path'> & {
  readonly success: Pick<RouteDefinition['success'], 'status'>
}

export interface AskedFor {
  readonly api: Exclude<Origin['api'], 'internal'>
  /** Null: no route was meant. */
  readonly route: AuditedRoute | null
  readonly principal: Principal | null
  /** False: nothing shows who asks, and the texts of the request are cut shorter. */
  readonly isProved: boolean
  readonly params: Readonly<Record<string, string>>
  readonly query: unknown
  readonly body: unknown
  readonly request: FastifyRequest
  readonly exchange: Exchange
}

/** What both kinds of rows say. */
export type RequestFacts = Omit<Origin, 'successStatus' | 'elapsedMs'>

export function factsOf(asked: AskedFor, nodeId: string): RequestFacts {
  const { api, route, principal, isProved, params, query, body, request, exchange } = asked
  const most = (characters: number): number =>
    isProved ? characters : Math.min(characters, UNPROVED_CHARACTERS_MAX)
  const name = (text: string | null | undefined): string | null => cut(text, most(NAME_CHARACTERS_MAX))
  const agentMax = isProved ? USER_AGENT_CHARACTERS_MAX : UNPROVED_AGENT_CHARACTERS_MAX
  return {
    requestId: request.id,
    api,
    operation: (route?.operation ?? request.routeOptions.config.operation)?.id ?? 'unknown',
    method: request.method,
    path: pathOf(originForm(request.originalUrl)).slice(0, most(PATH_CHARACTERS_MAX)),
    actor: actorOf(principal),
    tenantId:
      principal?.tenantId ?? (route?.path.startsWith(OF_A_TENANT) === true ? name(params['id']) : null),
    bucket: name(params['bucket']),
    key: name(params['key']),
    versionId: name(textIn(query, 'versionId')),
    reason: cut(reasonOfUrl(principal) ?? textIn(body, 'reason'), most(REASON_CHARACTERS_MAX)),
    sourceIp: clientAddress(request),
    userAgent: cut(request.headers['user-agent'], agentMax),
    bytesIn: exchange.receivedBytes,
    nodeId,
  }
}

function actorOf(principal: Principal | null): Actor {
  if (principal === null) return { type: 'anonymous', id: null, role: null }
  if (principal.kind === 'adminToken')
    return {
      type: 'adminToken',
      id: principal.tokenId,
      role: principal.role,
      ...(principal.user === undefined ? {} : { session: principal.user.name }),
    }
  const { signedUrl, accessKeyId, session } = principal
  return signedUrl === null
    ? {
        type: 'accessKey',
        id: accessKeyId,
        role: null,
        ...(session === undefined ? {} : { session: session.name }),
      }
    : { type: 'signedUrl', id: signedUrl.jti, role: null, accessKeyId }
}

/** The reason that its minter gave is recorded with each use. [native: Signed URL token] */
function reasonOfUrl(principal: Principal | null): string | null {
  return principal?.kind === 'accessKey' ? (principal.signedUrl?.reason ?? null) : null
}

/** As much of a name as a row of the audit log keeps. */
export function named(text: string | null | undefined): string | null {
  return cut(text, NAME_CHARACTERS_MAX)
}

function cut(text: string | null | undefined, charactersMax: number): string | null {
  return text?.slice(0, charactersMax) ?? null
}

function textIn(fields: unknown, name: string): string | null {
  if (typeof fields !== 'object' || fields === null) return null
  const value = (fields as Record<string, unknown>)[name]
  return typeof value === 'string' ? value : null
}
