/**
 * The routes of long operations: parse the call, run one operation, dress the outcome. [decisions 12]
 */
import Type from 'typebox'
import type { AdminOperationId } from '../../access/base/operation-ids.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import { cancelOperation } from '../../operations/repair/cancel-operation.ts'
import { findOperation, getOperation } from '../../operations/repair/get-operation.ts'
import { listOperations } from '../../operations/repair/list-operations.ts'
import { pauseOperation } from '../../operations/repair/pause-operation.ts'
import { planRebalance } from '../../operations/repair/plan-rebalance.ts'
import { rebalance } from '../../operations/repair/rebalance.ts'
import { recount } from '../../operations/repair/recount.ts'
import { resumeOperation } from '../../operations/repair/resume-operation.ts'
import { scrub, scrubbedNodes } from '../../operations/repair/scrub.ts'
import type { Services } from '../../operations/base/services.ts'
import type { OperationRecord } from '../../state-machine/operations/records.ts'
import { adminRoute, type RouteDefinition } from '../route.ts'
import { orNull, PAGE_END_SCHEMA, pageEnd } from '../wire.ts'
import { operationAnswer, operationRoute } from './mutation.ts'
import { OperationView, operationView } from './operation-view.ts'
import { PageQuery, REASON } from './queries.ts'

const Count = Type.Integer({ minimum: 0 })
const NewRebalance = Type.Object(
  {
    tenantId: Type.String(),
    bucket: Type.Optional(Type.String({ description: 'Absent: everything of the tenant' })),
    maxBytesPerSecond: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Of all nodes together, on average, for this operation' }),
    ),
    ...REASON,
  },
  { additionalProperties: false },
)
const NewScrub = Type.Object(
  { node: Type.Optional(Type.String({ description: 'Absent: every node' })), ...REASON },
  { additionalProperties: false },
)
const NewRecount = Type.Object(REASON, { additionalProperties: false })
const OperationPage = Type.Object({ operations: Type.Array(OperationView), ...PAGE_END_SCHEMA })

export const operationRoutes = {
  rebalance: operationRoute(
    {
      operationId: 'rebalance',
      method: 'POST',
      path: '/cluster/rebalance',
      summary: 'Move the copies of a tenant or a bucket to where they should be',
      status: 202,
      body: { schema: NewRebalance },
      plan: Type.Object({
        chunks: Type.Integer({ minimum: 0, description: 'Looked at' }),
        copiesToMake: Count,
        bytesToMove: Count,
        isComplete: Type.Boolean({ description: 'false: there are more chunks than were looked at' }),
      }),
    },
    {
      run: (services, principal, { body }) => rebalance(services, principal, body),
      plan: async (services, { body }) => {
        return { ...(await planRebalance(services, body)), tenantId: body.tenantId }
      },
    },
  ),

  scrub: operationRoute(
    {
      operationId: 'scrub',
      method: 'POST',
      path: '/cluster/scrub',
      summary: 'Read every copy back now, on one node or on all; what is bad is made again',
      status: 202,
      body: { schema: NewScrub },
      plan: Type.Object({ nodes: Type.Array(Type.String()) }),
    },
    {
      run: (services, principal, { body }) => scrub(services, principal, body),
      plan: async (services, { body }) => ({
        plan: { nodes: [...scrubbedNodes(services, body)] },
        warnings: [],
      }),
    },
  ),

  recount: operationRoute(
    {
      operationId: 'recount',
      method: 'POST',
      path: '/cluster/recount',
      summary: 'Count all references and usage anew; a difference halts the collection of garbage',
      status: 202,
      body: { schema: NewRecount },
      plan: Type.Object({ unfinishedRecounts: Count }),
    },
    {
      run: (services, principal, { body }) => recount(services, principal, body),
      plan: async ({ state }) => {
        const unfinished = state.unfinishedOperations().filter(({ kind }) => kind === 'recount')
        return { plan: { unfinishedRecounts: unfinished.length }, warnings: [] }
      },
    },
  ),

  listOperations: adminRoute(
    {
      operationId: 'listOperations',
      method: 'GET',
      path: '/cluster/operations',
      summary: 'List long operations, oldest first; of those that ended the last 256 are kept',
      query: PageQuery,
      success: {
        status: 200,
        description: 'One page of operations',
        content: { type: 'application/json', schema: OperationPage },
      },
    },
    async (services, principal, { query: { limit, continuationToken } }) => {
      const page = await listOperations(services, principal, { limit, continuationToken })
      const operations = page.operations.map((operation) =>
        operationView(operation, services.cluster.time.now()),
      )
      return { kind: 'json', body: { operations, ...pageEnd(page.nextContinuationToken) } }
    },
  ),

  getOperation: adminRoute(
    {
      operationId: 'getOperation',
      method: 'GET',
      path: '/cluster/operations/{id}',
      summary: 'Get a long operation with its progress',
      success: {
        status: 200,
        description: 'The operation',
        content: { type: 'application/json', schema: OperationView },
      },
    },
    async (services, principal, { params }) =>
      operationAnswer(await getOperation(services, principal, params)),
  ),

  cancelOperation: actRoute('cancel', {
    operationId: 'cancelOperation',
    summary: 'End an operation for good; copies that are not made yet are taken back',
    act: cancelOperation,
  }),

  pauseOperation: actRoute('pause', {
    operationId: 'pauseOperation',
    summary: 'Plan nothing more for now; copies that are planned are still made',
    act: pauseOperation,
  }),

  resumeOperation: actRoute('resume', {
    operationId: 'resumeOperation',
    summary: 'Go on with a paused operation where it was',
    act: resumeOperation,
  }),
}

interface Act {
  readonly operationId: AdminOperationId
  readonly summary: string
  readonly act: (
    services: Services,
    principal: AdminTokenPrincipal,
    input: { readonly id: string },
  ) => Promise<OperationRecord>
}

/** What can be done to an operation that is there. */
function actRoute(verb: 'cancel' | 'pause' | 'resume', { operationId, summary, act }: Act): RouteDefinition {
  return operationRoute(
    {
      operationId,
      method: 'POST',
      path: `/cluster/operations/{id}/${verb}`,
      summary,
      status: 200,
      plan: Type.Object({
        type: OperationView.properties.type,
        statusBefore: OperationView.properties.status,
        statusAfter: OperationView.properties.status,
        tasksOpen: Type.Integer({ minimum: 0, description: 'Copies that are planned and not made yet' }),
        etaSeconds: orNull(Count),
      }),
    },
    {
      run: (services, principal, { params }) => act(services, principal, params),
      plan: async (services, { params }, outcome) => {
        const operation = findOperation(services, params.id)
        const {
          type,
          status: statusBefore,
          progress,
          etaSeconds,
        } = operationView(operation, services.cluster.time.now())
        const statusAfter = outcome?.status ?? statusBefore
        const { tasksOpen } = progress
        return { plan: { type, statusBefore, statusAfter, tasksOpen, etaSeconds }, warnings: [] }
      },
    },
  )
}
