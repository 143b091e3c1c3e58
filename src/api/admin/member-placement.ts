/**
 * Routes of the weight and zone of a member over what the file of its node says. No rules here.
 */
import Type, { type Static } from 'typebox'
import {
  deleteMemberPlacement,
  type MemberPlacement,
  type MemberPlacementPlan,
  planMemberPlacement,
  setMemberPlacement,
} from '../../operations/placement/member-placement.ts'
import type { PlacedMember } from '../../operations/placement/move-tally.ts'
import { fileOf } from '../../state-machine/members/placing.ts'
import { WEIGHT_MAX } from '../../state-machine/members/records.ts'
import { documented } from '../documented.ts'
import { MEMBER } from '../examples/names.ts'
import { orNull } from '../wire.ts'
import { FilePlaceView } from './membership-view.ts'
import { changeRoute, removalRoute } from './mutation.ts'
import { REASON } from './queries.ts'

const PATH = '/cluster/members/{nodeId}/placement'

const Count = Type.Integer({ minimum: 0 })
const Share = Type.Number({ minimum: 0, maximum: 1 })
const Weight = Type.Number({ minimum: 0, maximum: WEIGHT_MAX, description: '0: no new copies' })
const Zone = Type.String({ minLength: 1, maxLength: 63 })

const Request = Type.Object(
  { zone: Type.Optional(Zone), weight: Type.Optional(Weight), ...REASON },
  { additionalProperties: false, ...documented({ minProperties: 2 }) },
)

const MemberPlacementView = Type.Object(
  {
    nodeId: Type.String(),
    zone: Type.String({ description: 'That new copies go by' }),
    weight: Type.Number({ minimum: 0 }),
    set: orNull(
      Type.Object(
        { zone: orNull(Type.String()), weight: orNull(Type.Number({ minimum: 0 })) },
        { description: 'null: as in the file' },
      ),
    ),
    file: FilePlaceView,
    configIndex: Count,
  },
  { additionalProperties: false },
)

const PLAN = Type.Object({
  chunks: Type.Integer({ minimum: 0, description: 'That were looked at' }),
  isComplete: Type.Boolean({
    description: 'false: there are more chunks; POST /cluster/placement/plan goes through all',
  }),
  chunksToMove: Count,
  copiesToMake: Count,
  bytesToMove: Count,
  singleZones: Type.Integer({ minimum: 0, description: 'Chunks whose copies would all be in one zone' }),
  secondsAtRepairRate: orNull(Type.Integer({ minimum: 0, description: 'null: repair has no limit' })),
  nodes: Type.Array(
    Type.Object({
      nodeId: Type.String(),
      zone: Type.String({ description: 'As it would be' }),
      weight: Type.Number({ minimum: 0 }),
      weightShareNow: Share,
      weightShare: Share,
      copiesIn: Count,
      bytesIn: Count,
      copiesOut: Count,
      bytesOut: Count,
    }),
  ),
})

export const memberPlacementRoutes = [
  changeRoute(
    setMemberPlacement,
    {
      method: 'PUT',
      path: PATH,
      summary: 'Set the weight or zone of a member over what the file of its node says',
      description:
        'It replaces what was set before: what is not named is as in the file. New copies follow within a second on every node; a rebalance moves the copies that there are.',
      body: { schema: Request },
      answers: 'The placement of the member, or the plan of a dry run',
      view: MemberPlacementView,
      plan: PLAN,
      example: {
        params: MEMBER,
        query: { dryRun: 'true' },
        body: { weight: 2, reason: 'It has twice the disks' },
      },
    },
    {
      run: (services, principal, { params, body }) =>
        setMemberPlacement(services, principal, { ...params, ...body }),
      answer: placementView,
      plan: async (services, { params, body: { zone, weight } }) =>
        dressed(
          await planMemberPlacement(services, {
            ...params,
            ...(zone === undefined ? {} : { zone }),
            ...(weight === undefined ? {} : { weight }),
          }),
        ),
    },
  ),

  removalRoute(
    deleteMemberPlacement,
    {
      method: 'DELETE',
      path: PATH,
      summary: 'Return a member to the weight and zone in the file of its node; repeating it is no error',
      plan: PLAN,
      example: { params: MEMBER, query: { dryRun: 'true' } },
    },
    {
      run: (services, principal, { params }) => deleteMemberPlacement(services, principal, params),
      plan: async (services, { params }) => dressed(await planMemberPlacement(services, params)),
    },
  ),
]

function placementView({ member, configIndex }: MemberPlacement): Static<typeof MemberPlacementView> {
  const { nodeId, zone, weight, placement } = member
  const set = placement === undefined ? null : { zone: placement.zone, weight: placement.weight }
  return { nodeId, zone, weight, set, file: { ...fileOf(member) }, configIndex }
}

function dressed(plan: MemberPlacementPlan): {
  readonly plan: Static<typeof PLAN>
  readonly warnings: readonly string[]
} {
  const { before, members, sums, secondsAtRepairRate, warnings, nextContinuationToken } = plan
  const [had, has] = [sharesOf(before), sharesOf(members)]
  const places = new Map(members.map((member) => [member.nodeId, member]))
  const nodes = sums.nodes.map((node) => {
    const { zone = '', weight = 0 } = places.get(node.nodeId) ?? {}
    const { [node.nodeId]: weightShareNow = 0 } = had
    const { [node.nodeId]: weightShare = 0 } = has
    return { ...node, zone, weight, weightShareNow, weightShare }
  })
  const isComplete = nextContinuationToken === null
  return { plan: { ...sums, isComplete, secondsAtRepairRate, nodes }, warnings }
}

function sharesOf(members: readonly PlacedMember[]): Readonly<Record<string, number>> {
  const whole = members.reduce((sum, { weight }) => sum + weight, 0)
  return Object.fromEntries(members.map(({ nodeId, weight }) => [nodeId, whole === 0 ? 0 : weight / whole]))
}
