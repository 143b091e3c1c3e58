/**
 * The routes of repair: its rate, the collection of garbage, and how far the watch over copies has come. No rules here.
 */
import Type, { type Static } from 'typebox'
import type { DiskState, NodeRepair } from '../../../cluster/index.ts'
import { getRepair, type RepairOverview } from '../../operations/repair/get-repair.ts'
import { resumeCollection } from '../../operations/repair/resume-collection.ts'
import { setRepair } from '../../operations/repair/set-repair.ts'
import type { SettingsRecord } from '../../state-machine/chunks/records.ts'
import { adminRoute, type Answer } from '../route.ts'
import { orNull, Time, timeText, timeTextOrNull } from '../wire.ts'
import { changeRoute } from './mutation.ts'
import { REASON } from './queries.ts'
import { settingsOf } from '../../state-machine/chunks/collection.ts'

const Count = Type.Integer({ minimum: 0 })
const Rate = orNull(
  Type.Integer({
    minimum: 1,
    description: 'Of each node, for repair, moves and scrub together; null: no limit',
  }),
)

const ScrubView = Type.Object({
  startedAt: orNull(Time),
  lastFullAt: orNull(Time),
  progress: Type.Number({ minimum: 0, maximum: 1, description: '1 while the next one is not due' }),
  copies: Count,
  bytes: Count,
  lost: Count,
  removed: Count,
})
const InventoryView = Type.Object({
  endedAt: orNull(Time),
  isRunning: Type.Boolean(),
  runs: Count,
  copies: Count,
  lost: Count,
})
const NodeView = Type.Object(
  {
    nodeId: Type.String(),
    reachable: Type.Boolean({ description: 'false: it did not answer in time, and the rest is null' }),
    pending: orNull(
      Type.Integer({ minimum: 0, description: 'Copies to make, as far as the node looks ahead' }),
    ),
    waitingForDisk: orNull(
      Type.Integer({ minimum: 0, description: 'Of those: they wait because the disk is full or suspect' }),
    ),
    scrub: orNull(ScrubView),
    inventory: orNull(InventoryView),
    directoriesLost: orNull(Count),
    disk: orNull(
      Type.Object({
        level: Type.Enum(['open', 'stopPlacing', 'stopWriting', 'reserve']),
        totalBytes: Count,
        freeBytes: Count,
        isSuspect: Type.Boolean(),
      }),
    ),
  },
  { additionalProperties: false },
)
const CollectionView = Type.Object(
  {
    halted: orNull(Type.Object({ reason: Type.String(), since: Time })),
    resumed: orNull(
      Type.Object(
        { requestedBy: Type.String(), reason: Type.String(), at: Time },
        {
          description: 'Who resumed it after the last halt',
        },
      ),
    ),
  },
  { additionalProperties: false },
)
const RecountView = Type.Object({
  nodeId: Type.String(),
  at: Time,
  rows: Count,
  differences: Count,
  firstDifference: orNull(Type.String()),
})
export const RepairView = Type.Object(
  {
    maxBytesPerSecond: Rate,
    collection: CollectionView,
    lastRecount: orNull(RecountView),
    nodes: Type.Array(NodeView, { description: 'Every member; counts are since its start' }),
  },
  { additionalProperties: false },
)
const NewRate = Type.Object({ maxBytesPerSecond: Rate }, { additionalProperties: false })
const Reason = Type.Object(REASON, { additionalProperties: false })

export const repairRoutes = [
  adminRoute(
    getRepair,
    {
      method: 'GET',
      path: '/cluster/repair',
      summary:
        'Get the rate of repair, the state of the collection, and how far the scrub of every node has come',
      success: {
        status: 200,
        description: 'What holds for all nodes, and the state of each that answers',
        content: { type: 'application/json', schema: RepairView },
      },
      example: {},
    },
    async (services, principal): Promise<Answer> => {
      return { kind: 'json', body: repairView(await getRepair(services, principal)) }
    },
  ),

  changeRoute(
    setRepair,
    {
      method: 'PUT',
      path: '/cluster/repair',
      summary: 'Set the rate of repair for all nodes; chunks with a single copy left do not wait for it',
      body: { schema: NewRate },
      plan: Type.Object({ before: Rate, after: Rate }),
      answers: 'The rate of all nodes and the state of each, or the plan of a dry run',
      view: RepairView,
      example: { body: { maxBytesPerSecond: 100_000_000 } },
    },
    {
      run: (services, principal, { body }) => setRepair(services, principal, body),
      plan: async ({ state }, { body }) => {
        const plan = { before: settingsOf(state).repairBytesPerSecond, after: body.maxBytesPerSecond }
        return { plan, warnings: [] }
      },
      answer: repairView,
    },
  ),

  changeRoute(
    resumeCollection,
    {
      method: 'POST',
      path: '/cluster/collection/resume',
      summary: 'Resume the collection of garbage after a halt; otherwise nothing changes',
      body: { schema: Reason },
      plan: Type.Object({ halted: CollectionView.properties.halted, lastRecount: orNull(RecountView) }),
      answers: 'The state of the collection, or the plan of a dry run',
      view: CollectionView,
      example: { query: { dryRun: 'true' }, body: { reason: 'The difference was understood' } },
    },
    {
      run: (services, principal, { body }) => resumeCollection(services, principal, body),
      plan: async ({ state }) => {
        const settings = settingsOf(state)
        const lastRecount = recountView(settings)
        const differs = (lastRecount?.differences ?? 0) > 0
        const warnings = differs ? ['The last recount differs: what is counted wrongly may be collected'] : []
        return { plan: { halted: collectionView(settings).halted, lastRecount }, warnings }
      },
      answer: collectionView,
    },
  ),
]

function repairView({ settings, nodes }: RepairOverview): Static<typeof RepairView> {
  return {
    maxBytesPerSecond: settings.repairBytesPerSecond,
    collection: collectionView(settings),
    lastRecount: recountView(settings),
    nodes: nodes.map(nodeView),
  }
}

function collectionView(settings: SettingsRecord): Static<typeof CollectionView> {
  const { collectionHalted: halted, collectionResumed: resumed } = settings
  return {
    halted: halted && { reason: halted.reason, since: timeText(halted.since) },
    resumed: resumed && { ...resumed, at: timeText(resumed.at) },
  }
}

function diskView({ level, totalBytes, freeBytes, isSuspect }: DiskState) {
  return { level, totalBytes, freeBytes, isSuspect }
}

function recountView({ lastRecount }: SettingsRecord): Static<typeof RecountView> | null {
  if (lastRecount === null) return null
  const { node: nodeId, at, rows, differences, first: firstDifference } = lastRecount
  return { nodeId, at: timeText(at), rows, differences, firstDifference }
}

function nodeView({ nodeId, status, disk }: NodeRepair): Static<typeof NodeView> {
  if (status === null) {
    const copies = { pending: null, waitingForDisk: null, scrub: null, inventory: null }
    return { nodeId, reachable: false, ...copies, directoriesLost: null, disk: null }
  }
  const { pending, waitingForDisk, inventory, directoriesLost } = status
  const { startedAt, lastFullAt, progress, copies, bytes, lost, removed } = status.scrub
  const times = { startedAt: timeTextOrNull(startedAt), lastFullAt: timeTextOrNull(lastFullAt) }
  return {
    nodeId,
    reachable: true,
    pending,
    waitingForDisk,
    scrub: { ...times, progress, copies, bytes, lost, removed },
    inventory: { ...inventory, endedAt: timeTextOrNull(inventory.endedAt) },
    directoriesLost,
    disk: disk && diskView(disk),
  }
}
