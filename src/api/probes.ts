/**
 * Liveness, readiness and the contract document, the same on both listeners. [decisions 13, 15]
 *
 * Rules: a probe needs no token and no quorum; it reports the state of this node only. Readiness is at the root of a listener and
 * nowhere else: below the mount point the contract lists what is open.
 */
import Type from 'typebox'
import { Condition } from '../../cluster/index.ts'
import { openOperation } from '../operations/base/operation.ts'
import type { Services } from '../operations/base/services.ts'
import { ReadyDocument } from './ready-document.ts'
import { openRoute, type RouteDefinition } from './route.ts'

const Health = Type.Object({ status: Type.Enum(['ok']) }, { additionalProperties: false })
const Ready = Type.Object({ status: Type.Enum(['ready']) }, { additionalProperties: false })

/** A probe that is stored in between says nothing. */
const FRESH = { 'cache-control': 'no-store' }

export function healthRoute(id: string): RouteDefinition {
  const operation = openOperation({ id, refuses: [], isRoutine: true }, async () => ({ status: 'ok' }))
  return openRoute(
    operation,
    {
      method: 'GET',
      path: '/healthz',
      mountedAt: 'both',
      auth: 'none',
      isProbe: true,
      summary: 'The process answers',
      success: {
        status: 200,
        description: 'Alive',
        content: { type: 'application/json', schema: Health },
      },
      example: {},
    },
    async (services) => ({ kind: 'json', headers: FRESH, body: await operation(services) }),
  )
}

export function readinessRoute(id: string): RouteDefinition {
  const operation = openOperation({ id, refuses: ['leader_not_ready'], isRoutine: true }, readiness)
  return openRoute(
    operation,
    {
      method: 'GET',
      path: '/readyz',
      mountedAt: 'root',
      auth: 'none',
      isProbe: true,
      summary: 'The node can serve requests, or says what is missing',
      success: {
        status: 200,
        description: 'Ready',
        content: { type: 'application/json', schema: Ready },
      },
      example: {},
    },
    async (services) => ({ kind: 'json', headers: FRESH, body: await operation(services) }),
  )
}

export function documentRoute(id: string, document: () => object): RouteDefinition {
  const ready = new ReadyDocument(document)
  const operation = openOperation({ id, refuses: [] }, async () => ready)
  return openRoute(
    operation,
    {
      method: 'GET',
      path: '/openapi.json',
      auth: 'none',
      summary: 'This contract as an OpenAPI 3.1 document',
      requestHeaders: [
        { name: 'If-None-Match', description: 'The ETag of a copy that the client has' },
        { name: 'Accept-Encoding', description: 'br and gzip are known' },
      ],
      responseHeaders: [
        { name: 'ETag', description: 'Of the document in this encoding' },
        { name: 'Cache-Control', description: 'How long a copy is good' },
      ],
      success: {
        status: 200,
        description: 'The document',
        content: { type: 'application/json', schema: Type.Object({}) },
      },
      otherStatuses: { 304: 'The copy of the client is still the document' },
      example: {},
    },
    async (services, _, { headers }) => (await operation(services)).answerTo(headers),
  )
}

async function readiness(services: Services): Promise<{ readonly status: 'ready' }> {
  const { ready, reasons } = services.cluster.readiness()
  if (ready) return { status: 'ready' }
  throw new Condition(
    'leader_not_ready',
    `Node "${services.cluster.nodeId}" is not ready: ${reasons.join('; ')}`,
  )
}
