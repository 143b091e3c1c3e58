/**
 * What is told of a request together with each change that it asks for.
 *
 * Owns: the reading of those facts. Knows nothing of: who writes them down.
 * Rule: operations do not know of it: whatever they propose while they serve a request carries its origin.
 */
import type { FastifyRequest } from 'fastify'
import type { Principal } from '../access/principal.ts'
import type { Services } from '../operations/services.ts'
import type { Command } from '../state-machine/commands.ts'
import type { Actor, Origin } from '../state-machine/origin.ts'
import type { Exchange } from './exchange.ts'
import type { Plane } from './plane.ts'
import { originForm, pathOf } from './request-target.ts'
import type { RouteDefinition } from './route.ts'

const USER_AGENT_CHARACTERS_MAX = 256
const REASON_CHARACTERS_MAX = 1024

export interface AskedFor {
  readonly plane: Plane
  readonly route: RouteDefinition
  readonly principal: Principal | null
  readonly params: Readonly<Record<string, string>>
  readonly query: unknown
  readonly body: unknown
  readonly request: FastifyRequest
  readonly exchange: Exchange
}

/** The same services, through which every proposal carries its origin. */
export function servicesFor(services: Services, asked: AskedFor): Services {
  const propose = (command: Command) => services.propose(command, originOf(services, asked))
  // Which reply belongs to which command is the promise of what it is handed on to.
  return { ...services, propose: propose as Services['propose'] }
}

function originOf({ cluster: { nodeId } }: Services, asked: AskedFor): Origin {
  const { plane, route, principal, params, query, body, request, exchange } = asked
  return {
    requestId: request.id,
    api: plane.api,
    operation: route.operationId,
    method: request.method,
    path: pathOf(originForm(request.originalUrl)),
    actor: actorOf(principal),
    tenantId: principal?.tenantId ?? params['id'] ?? null,
    bucket: params['bucket'] ?? null,
    key: params['key'] ?? null,
    versionId: textIn(query, 'versionId'),
    reason: textIn(body, 'reason')?.slice(0, REASON_CHARACTERS_MAX) ?? null,
    sourceIp: request.ip,
    userAgent: request.headers['user-agent']?.slice(0, USER_AGENT_CHARACTERS_MAX) ?? null,
    bytesIn: exchange.receivedBytes,
    elapsedMs: Math.round(performance.now() - exchange.startedMs),
    successStatus: route.success.status,
    nodeId,
  }
}

function actorOf(principal: Principal | null): Actor {
  if (principal === null) return { type: 'anonymous', id: null, role: null }
  return principal.kind === 'accessKey'
    ? { type: 'accessKey', id: principal.accessKeyId, role: null }
    : { type: 'adminToken', id: principal.tokenId, role: principal.role }
}

function textIn(fields: unknown, name: string): string | null {
  if (typeof fields !== 'object' || fields === null) return null
  const value = (fields as Record<string, unknown>)[name]
  return typeof value === 'string' ? value : null
}
