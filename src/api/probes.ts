/**
 * Liveness, readiness and the contract document, alike on both listeners. [decisions 13, 15]
 *
 * Rule: a probe needs no token and no quorum; it speaks of this node alone.
 */
import Type from 'typebox'
import { Condition } from '../../cluster/index.ts'
import type { OperationId } from '../access/base/operation-ids.ts'
import type { Services } from '../operations/base/services.ts'
import { type Answer, openRoute, type RouteDefinition } from './route.ts'

const Health = Type.Object({ status: Type.Enum(['ok']) }, { additionalProperties: false })
const Ready = Type.Object({ status: Type.Enum(['ready']) }, { additionalProperties: false })

export const healthRoute = (operationId: OperationId): RouteDefinition =>
  openRoute(
    {
      operationId,
      method: 'GET',
      path: '/healthz',
      mountedAt: 'both',
      auth: 'none',
      summary: 'The process answers',
      success: {
        status: 200,
        description: 'Alive',
        content: { type: 'application/json', schema: Health },
      },
    },
    async () => ({ kind: 'json', body: { status: 'ok' } }),
  )

export const readinessRoute = (operationId: OperationId): RouteDefinition =>
  openRoute(
    {
      operationId,
      method: 'GET',
      path: '/readyz',
      mountedAt: 'both',
      auth: 'none',
      summary: 'The node can serve requests, or says what is missing',
      success: {
        status: 200,
        description: 'Ready',
        content: { type: 'application/json', schema: Ready },
      },
    },
    async (services) => readiness(services),
  )

export const documentRoute = (operationId: OperationId, document: () => object): RouteDefinition =>
  openRoute(
    {
      operationId,
      method: 'GET',
      path: '/openapi.json',
      auth: 'none',
      summary: 'This contract as an OpenAPI 3.1 document',
      success: {
        status: 200,
        description: 'The document',
        content: { type: 'application/json', schema: Type.Object({}) },
      },
    },
    async () => ({ kind: 'json', body: document() }),
  )

function readiness(services: Services): Answer {
  const { ready, reasons } = services.cluster.readiness()
  if (ready) return { kind: 'json', body: { status: 'ready' } }
  throw new Condition(
    'leader_not_ready',
    `Node "${services.cluster.nodeId}" is not ready: ${reasons.join('; ')}`,
  )
}
