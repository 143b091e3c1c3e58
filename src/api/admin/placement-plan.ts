/**
 * The route of the plan of placement: what would move with other weights and zones. No rules here.
 */
import Type, { type Static } from 'typebox'
import {
  planClusterPlacement,
  type PlacementPlan,
} from '../../operations/placement/plan-cluster-placement.ts'
import { PLACEMENT_CHUNKS_MAX } from '../../operations/placement/subject.ts'
import { MEMBERS_MAX, WEIGHT_MAX } from '../../state-machine/members/records.ts'
import { ACME } from '../examples/names.ts'
import { adminRoute, type Answer } from '../route.ts'
import { CONTINUATION_TOKEN, orNull, PAGE_END_SCHEMA, pageEnd } from '../wire.ts'
import { BlockerView } from './mutation.ts'

const Count = Type.Integer({ minimum: 0 })
const Weight = Type.Number({ minimum: 0, maximum: WEIGHT_MAX, description: '0: no new copies' })
const Zone = Type.String({ minLength: 1, maxLength: 63 })

const Question = Type.Object(
  {
    members: Type.Array(
      Type.Object(
        { nodeId: Type.String(), zone: Type.Optional(Zone), weight: Type.Optional(Weight) },
        { additionalProperties: false },
      ),
      {
        maxItems: MEMBERS_MAX,
        description: 'Members that would be placed otherwise; the rest stays as it is',
      },
    ),
    tenantId: Type.Optional(Type.String({ description: 'Only the chunks of this tenant' })),
    bucket: Type.Optional(Type.String({ description: 'Only the chunks of this bucket, with tenantId' })),
    limit: Type.Optional(
      Type.Integer({ description: `Chunks to count: 1 to ${PLACEMENT_CHUNKS_MAX}, the most if absent` }),
    ),
    continuationToken: CONTINUATION_TOKEN,
  },
  { additionalProperties: false },
)

const MovesView = Type.Object({
  nodeId: Type.String(),
  zone: Type.String(),
  weight: Type.Number({ minimum: 0 }),
  copiesIn: Count,
  bytesIn: Count,
  copiesOut: Count,
  bytesOut: Count,
})

const PlanView = Type.Object(
  {
    chunks: Type.Integer({ minimum: 0, description: 'Counted in this answer' }),
    chunksToMove: Count,
    copiesToMake: Count,
    bytesToMove: Count,
    singleZones: Type.Integer({ minimum: 0, description: 'Chunks whose copies would all be in one zone' }),
    secondsAtRepairRate: orNull(
      Type.Integer({
        minimum: 0,
        description: 'For these chunks, all nodes at once; null: repair has no limit',
      }),
    ),
    nodes: Type.Array(MovesView, { description: 'Zone and weight as they would be' }),
    blockers: Type.Array(BlockerView),
    warnings: Type.Array(Type.String()),
    ...PAGE_END_SCHEMA,
  },
  { additionalProperties: false },
)

export const placementPlanRoute = adminRoute(
  planClusterPlacement,
  {
    method: 'POST',
    path: '/cluster/placement/plan',
    summary:
      'Show what a rebalance would move if members had other weights or zones; nothing changes, and pages add up to the whole',
    body: { schema: Question },
    success: {
      status: 200,
      description: 'What would move of the chunks of this page',
      content: { type: 'application/json', schema: PlanView },
    },
    example: { body: { members: [{ nodeId: 'n2', weight: 2 }], tenantId: ACME.id } },
  },
  async (services, principal, { body }): Promise<Answer> => {
    return { kind: 'json', body: planView(await planClusterPlacement(services, principal, body)) }
  },
)

function planView(plan: PlacementPlan): Static<typeof PlanView> {
  const { members, sums, secondsAtRepairRate, blockers, warnings, nextContinuationToken } = plan
  const places = new Map(members.map((member) => [member.nodeId, member]))
  return {
    ...sums,
    secondsAtRepairRate,
    nodes: sums.nodes.map((node) => {
      const { zone = '', weight = 0 } = places.get(node.nodeId) ?? {}
      return { ...node, zone, weight }
    }),
    blockers: blockers.map(({ code, message }) => ({ code, message })),
    warnings: [...warnings],
    ...pageEnd(nextContinuationToken),
  }
}
