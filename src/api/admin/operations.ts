/**
 * The routes of long operations on copies: parse the call, run one operation, dress the outcome. [decisions 12]
 */
import Type from 'typebox'
import { cancelOperation } from '../../operations/repair/cancel-operation.ts'
import { getOperation } from '../../operations/repair/get-operation.ts'
import { listOperations } from '../../operations/repair/list-operations.ts'
import { pauseOperation } from '../../operations/repair/pause-operation.ts'
import { rebalance } from '../../operations/repair/rebalance.ts'
import { resumeOperation } from '../../operations/repair/resume-operation.ts'
import type { OperationRecord } from '../../state-machine/records.ts'
import { type Answer, adminRoute } from '../route.ts'
import { PAGE_END_SCHEMA, pageEnd } from '../wire.ts'
import { OperationView, operationView } from './operation-view.ts'
import { DRY_RUN, PageQuery, refuseDryRun } from './queries.ts'

const NewRebalance = Type.Object(
  {
    tenantId: Type.String(),
    bucket: Type.Optional(Type.String({ description: 'Absent: everything of the tenant' })),
    maxBytesPerSecond: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Of all nodes together, on average, for this operation' }),
    ),
    reason: Type.String({ maxLength: 1024 }),
  },
  { additionalProperties: false },
)
const OperationPage = Type.Object({ operations: Type.Array(OperationView), ...PAGE_END_SCHEMA })

export const operationRoutes = {
  rebalance: adminRoute(
    {
      operationId: 'rebalance',
      method: 'POST',
      path: '/cluster/rebalance',
      summary: 'Move the copies of a tenant or a bucket to where they should be',
      query: DRY_RUN,
      body: { schema: NewRebalance },
      responseHeaders: [{ name: 'Location', description: 'Path of the operation' }],
      success: {
        status: 202,
        description: 'The operation, which goes on by itself',
        content: { type: 'application/json', schema: OperationView },
      },
    },
    async (services, principal, { query, body }) => {
      refuseDryRun(query)
      const operation = await rebalance(services, principal, body)
      const location = `/admin/api/v1/cluster/operations/${operation.operationId}`
      return { ...answer(operation), headers: { location } }
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
      const operations = page.operations.map((operation) => operationView(operation, Date.now()))
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
    async (services, principal, { params }) => answer(await getOperation(services, principal, params)),
  ),

  cancelOperation: adminRoute(
    {
      operationId: 'cancelOperation',
      method: 'POST',
      path: '/cluster/operations/{id}/cancel',
      summary: 'End an operation for good; copies that are not made yet are taken back',
      query: DRY_RUN,
      success: {
        status: 200,
        description: 'The operation',
        content: { type: 'application/json', schema: OperationView },
      },
    },
    async (services, principal, { params, query }) => {
      refuseDryRun(query)
      return answer(await cancelOperation(services, principal, params))
    },
  ),

  pauseOperation: adminRoute(
    {
      operationId: 'pauseOperation',
      method: 'POST',
      path: '/cluster/operations/{id}/pause',
      summary: 'Plan nothing more for now; copies that are planned are still made',
      query: DRY_RUN,
      success: {
        status: 200,
        description: 'The operation',
        content: { type: 'application/json', schema: OperationView },
      },
    },
    async (services, principal, { params, query }) => {
      refuseDryRun(query)
      return answer(await pauseOperation(services, principal, params))
    },
  ),

  resumeOperation: adminRoute(
    {
      operationId: 'resumeOperation',
      method: 'POST',
      path: '/cluster/operations/{id}/resume',
      summary: 'Go on with a paused operation where it was',
      query: DRY_RUN,
      success: {
        status: 200,
        description: 'The operation',
        content: { type: 'application/json', schema: OperationView },
      },
    },
    async (services, principal, { params, query }) => {
      refuseDryRun(query)
      return answer(await resumeOperation(services, principal, params))
    },
  ),
}

function answer(operation: OperationRecord): Answer {
  return { kind: 'json', body: operationView(operation, Date.now()) }
}
