/**
 * The routes of second approvals: look at what waits, approve it, reject it. No rules here.
 */
import Type, { type Static } from 'typebox'
import { getApproval, listApprovals } from '../../operations/approvals/approval-lookups.ts'
import { approveChange, rejectChange } from '../../operations/approvals/decide-approval.ts'
import type { ApprovalRecord } from '../../state-machine/approvals/records.ts'
import { APPROVAL } from '../examples/names.ts'
import { adminRoute, type RouteDefinition } from '../route.ts'
import { orNull, Time, timeText, timeTextOrNull } from '../wire.ts'
import { changeRoute } from './mutation.ts'
import { REASON } from './queries.ts'

export const ApprovalView = Type.Object(
  {
    approvalId: Type.String(),
    operation: Type.String({ description: 'That needs the approval' }),
    tenantId: orNull(Type.String({ description: 'null: the change is about the cluster' })),
    status: Type.Enum(['waiting', 'approved']),
    change: Type.Unknown({ description: 'What would be done: exactly this, once' }),
    requestedBy: Type.Object({ type: Type.Enum(['adminToken', 'accessKey']), id: Type.String() }),
    requestedAt: Time,
    expiresAt: Type.String({
      format: 'date-time',
      description: 'Until then it can be approved and used',
    }),
    approvedBy: orNull(Type.String({ description: 'The id of an admin token' })),
    approvedAt: orNull(Time),
  },
  { additionalProperties: false },
)
const Decision = Type.Object(REASON, { additionalProperties: false })
const ApprovalList = Type.Object({ approvals: Type.Array(ApprovalView) }, { additionalProperties: false })

export const approvalRoutes = [
  adminRoute(
    listApprovals,
    {
      method: 'GET',
      path: '/approvals',
      summary:
        'List the changes that wait for the approval of a second owner, or have it and are not made yet',
      success: {
        status: 200,
        description: 'All of them, the oldest first',
        content: { type: 'application/json', schema: ApprovalList },
      },
      example: {},
    },
    async (services, principal) => {
      const approvals = await listApprovals(services, principal)
      return { kind: 'json', body: { approvals: approvals.map(approvalView) } }
    },
  ),

  adminRoute(
    getApproval,
    {
      method: 'GET',
      path: '/approvals/{id}',
      summary: 'Get a change that needs a second approval',
      success: {
        status: 200,
        description: 'The approval',
        content: { type: 'application/json', schema: ApprovalView },
      },
      example: { params: APPROVAL },
    },
    async (services, principal, { params }) => ({
      kind: 'json',
      body: approvalView(await getApproval(services, principal, params)),
    }),
  ),

  decisionRoute(approveChange, {
    verb: 'approve',
    summary: 'Approve a change that another one asked for; who asked can make it then, once',
    example: {
      params: APPROVAL,
      body: { reason: 'The contract was ended by both sides' },
    },
  }),

  decisionRoute(rejectChange, {
    verb: 'reject',
    summary: 'Reject a change, or take back the request for one',
    example: { params: APPROVAL, body: { reason: 'The customer asked for more time' } },
  }),
]

function decisionRoute(
  operation: typeof approveChange,
  { verb, ...facts }: Pick<RouteDefinition, 'summary' | 'example'> & { readonly verb: 'approve' | 'reject' },
): RouteDefinition {
  return changeRoute(
    operation,
    {
      ...facts,
      method: 'POST',
      path: `/approvals/{id}/${verb}`,
      body: { schema: Decision },
      answers: 'The approval, of a rejected one as it was; or the plan of a dry run',
      view: ApprovalView,
      plan: Type.Object({
        approval: orNull(ApprovalView),
      }),
    },
    {
      run: (services, principal, { params, body }) => operation(services, principal, { ...params, ...body }),
      plan: async (_services, _call, outcome) => ({
        plan: { approval: outcome === null ? null : approvalView(outcome) },
        warnings: [],
      }),
      answer: approvalView,
    },
  )
}

function approvalView(approval: ApprovalRecord): Static<typeof ApprovalView> {
  const { approvalId, operation, tenantId, requestedBy, approvedBy } = approval
  return {
    approvalId,
    operation,
    tenantId,
    status: approvedBy === null ? 'waiting' : 'approved',
    change: JSON.parse(approval.change),
    requestedBy: { type: requestedBy.type, id: requestedBy.id },
    requestedAt: timeText(approval.requestedAt),
    expiresAt: timeText(approval.expiresAt),
    approvedBy,
    approvedAt: timeTextOrNull(approval.approvedAt),
  }
}
