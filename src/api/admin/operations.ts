/**
 * The routes of long operations: parse the call, run one operation, dress the outcome. [decisions 12]
 */
import Type from 'typebox'
import { findOperation, getOperation, listOperations } from '../../operations/repair/operation-lookups.ts'
import { cancelOperation, pauseOperation, resumeOperation } from '../../operations/repair/operation-status.ts'
import { planRebalance } from '../../operations/repair/plan-rebalance.ts'
import { rebalance } from '../../operations/repair/rebalance.ts'
import { recount } from '../../operations/repair/recount.ts'
import { scrub, scrubbedNodes } from '../../operations/repair/scrub.ts'
import { REBALANCE } from '../examples/names.ts'
import { adminRoute, type RouteDefinition } from '../route.ts'
import { orNull, PAGE_END_SCHEMA, pageEnd } from '../wire.ts'
import { longOperationAnswer, longOperationRoute } from './mutation.ts'
import { LongOperationView, longOperationView } from './operation-view.ts'
import { PageQuery, REASON } from './queries.ts'
import { unfinishedOperations } from '../../state-machine/long-operations/operations.ts'

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
const LongOperationPage = Type.Object({ operations: Type.Array(LongOperationView), ...PAGE_END_SCHEMA })

export const longOperationRoutes = [
  longOperationRoute(
    rebalance,
    {
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
      example: {
        body: {
          tenantId: 'acme',
          bucket: 'photos',
          maxBytesPerSecond: 50_000_000,
          reason: 'A disk was added',
        },
      },
    },
    {
      run: (services, principal, { body }) => rebalance(services, principal, body),
      plan: async (services, { body }) => {
        return { ...(await planRebalance(services, body)), tenantId: body.tenantId }
      },
    },
  ),

  longOperationRoute(
    scrub,
    {
      method: 'POST',
      path: '/cluster/scrub',
      summary: 'Read every copy back now, on one node or on all; what is bad is made again',
      status: 202,
      body: { schema: NewScrub },
      plan: Type.Object({ nodes: Type.Array(Type.String()) }),
      example: { body: { reason: 'After a power cut' } },
    },
    {
      run: (services, principal, { body }) => scrub(services, principal, body),
      plan: async (services, { body }) => ({
        plan: { nodes: [...scrubbedNodes(services, body)] },
        warnings: [],
      }),
    },
  ),

  longOperationRoute(
    recount,
    {
      method: 'POST',
      path: '/cluster/recount',
      summary: 'Count all references and usage again; a difference halts the collection of garbage',
      status: 202,
      body: { schema: NewRecount },
      plan: Type.Object({ unfinishedRecounts: Count }),
      example: { body: { reason: 'After an upgrade' } },
    },
    {
      run: (services, principal, { body }) => recount(services, principal, body),
      plan: async ({ state }) => {
        const unfinished = unfinishedOperations(state).filter(({ kind }) => kind === 'recount')
        return { plan: { unfinishedRecounts: unfinished.length }, warnings: [] }
      },
    },
  ),

  adminRoute(
    listOperations,
    {
      method: 'GET',
      path: '/cluster/operations',
      summary: 'List long operations, oldest first; of those that ended the last 256 are kept',
      query: PageQuery,
      success: {
        status: 200,
        description: 'One page of operations',
        content: { type: 'application/json', schema: LongOperationPage },
      },
      example: { query: { limit: '100' } },
    },
    async (services, principal, { query: { limit, continuationToken } }) => {
      const page = await listOperations(services, principal, { limit, continuationToken })
      const operations = page.operations.map((operation) =>
        longOperationView(operation, services.cluster.time.now()),
      )
      return { kind: 'json', body: { operations, ...pageEnd(page.nextContinuationToken) } }
    },
  ),

  adminRoute(
    getOperation,
    {
      method: 'GET',
      path: '/cluster/operations/{id}',
      summary: 'Get a long operation with its progress',
      success: {
        status: 200,
        description: 'The operation',
        content: { type: 'application/json', schema: LongOperationView },
      },
      example: { params: REBALANCE },
    },
    async (services, principal, { params }) =>
      longOperationAnswer(await getOperation(services, principal, params)),
  ),

  statusRoute(cancelOperation, {
    verb: 'cancel',
    summary: 'End an operation for good; copies that are not made yet are taken back',
    example: { params: REBALANCE },
    furtherExamples: { cancelBackup: { params: { id: '{createBackup.operationId}' } } },
  }),

  statusRoute(pauseOperation, {
    verb: 'pause',
    summary: 'Plan nothing more for now; copies that are planned are still made',
    example: { params: REBALANCE },
  }),

  statusRoute(resumeOperation, {
    verb: 'resume',
    summary: 'Continue a paused operation where it was',
    example: { params: REBALANCE, query: { wait: '1ms' } },
  }),
]

/** An order to an operation that exists. */
function statusRoute(
  operation: typeof cancelOperation,
  {
    verb,
    ...facts
  }: Pick<RouteDefinition, 'summary' | 'example' | 'furtherExamples'> & {
    readonly verb: 'cancel' | 'pause' | 'resume'
  },
): RouteDefinition {
  return longOperationRoute(
    operation,
    {
      ...facts,
      method: 'POST',
      path: `/cluster/operations/{id}/${verb}`,
      status: 200,
      plan: Type.Object({
        type: LongOperationView.properties.type,
        statusBefore: LongOperationView.properties.status,
        statusAfter: LongOperationView.properties.status,
        tasksOpen: Type.Integer({ minimum: 0, description: 'Copies that are planned and not made yet' }),
        etaSeconds: orNull(Count),
      }),
    },
    {
      run: (services, principal, { params }) => operation(services, principal, params),
      plan: async (services, { params }, outcome) => {
        const {
          type,
          status: statusBefore,
          progress,
          etaSeconds,
        } = longOperationView(findOperation(services, params.id), services.cluster.time.now())
        const statusAfter = outcome?.status ?? statusBefore
        const { tasksOpen } = progress
        return { plan: { type, statusBefore, statusAfter, tasksOpen, etaSeconds }, warnings: [] }
      },
    },
  )
}
