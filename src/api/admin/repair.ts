/**
 * The routes of repair: its rate, and how far the watch over copies has come. No rules here.
 */
import Type, { type Static } from 'typebox'
import { getRepair, type RepairOverview } from '../../operations/repair/get-repair.ts'
import { setRepair } from '../../operations/repair/set-repair.ts'
import { type Answer, adminRoute } from '../route.ts'
import { orNull, Time, timeTextOrNull } from '../wire.ts'
import { DRY_RUN, refuseDryRun } from './queries.ts'

const Count = Type.Integer({ minimum: 0 })
const Rate = orNull(
  Type.Integer({
    minimum: 1,
    description: 'Of each node, for repair, moves and scrub together; null: no limit',
  }),
)

const NodeView = Type.Object(
  {
    nodeId: Type.String(),
    pending: Type.Integer({ minimum: 0, description: 'Copies to make, as far as the node looks ahead' }),
    scrub: Type.Object({
      startedAt: orNull(Time),
      lastFullAt: orNull(Time),
      progress: Type.Number({ minimum: 0, maximum: 1, description: '1 while the next one is not due' }),
      copies: Count,
      bytes: Count,
      lost: Count,
      removed: Count,
    }),
    inventory: Type.Object({
      endedAt: orNull(Time),
      isRunning: Type.Boolean(),
      runs: Count,
      copies: Count,
      lost: Count,
    }),
    directoriesLost: Count,
  },
  { additionalProperties: false },
)
const RepairView = Type.Object(
  {
    maxBytesPerSecond: Rate,
    nodes: Type.Array(NodeView, { description: 'The node that was asked; counts are since its start' }),
  },
  { additionalProperties: false },
)
const NewRate = Type.Object({ maxBytesPerSecond: Rate }, { additionalProperties: false })
const SUCCESS = {
  status: 200,
  description: 'The rate of all nodes and the state of this one',
  content: { type: 'application/json', schema: RepairView },
}

export const repairRoutes = {
  getRepair: adminRoute(
    {
      operationId: 'getRepair',
      method: 'GET',
      path: '/cluster/repair',
      summary: 'Get the rate of repair and how far the scrub of this node has come',
      success: SUCCESS,
    },
    async (services, principal) => answer(await getRepair(services, principal)),
  ),

  setRepair: adminRoute(
    {
      operationId: 'setRepair',
      method: 'PUT',
      path: '/cluster/repair',
      summary:
        'Set the rate of repair for all nodes; copies of which a single one is left do not wait for it',
      query: DRY_RUN,
      body: { schema: NewRate },
      success: SUCCESS,
    },
    async (services, principal, { query, body }) => {
      refuseDryRun(query)
      return answer(await setRepair(services, principal, body))
    },
  ),
}

function answer({ maxBytesPerSecond, nodeId, status }: RepairOverview): Answer {
  const { pending, scrub, inventory, directoriesLost } = status
  const { startedAt, lastFullAt } = scrub
  const node: Static<typeof NodeView> = {
    nodeId,
    pending,
    scrub: { ...scrub, startedAt: timeTextOrNull(startedAt), lastFullAt: timeTextOrNull(lastFullAt) },
    inventory: { ...inventory, endedAt: timeTextOrNull(inventory.endedAt) },
    directoriesLost,
  }
  return { kind: 'json', body: { maxBytesPerSecond, nodes: [node] } }
}
