/**
 * The routes of the cluster's time: what it is, what of it waits for an operator's word, and that word. No rules here.
 */
import Type, { type Static } from 'typebox'
import type { ClusterTimeStatus } from '../../../cluster/index.ts'
import { parseTimestamp } from '../../operations/base/timestamp.ts'
import { confirmClusterTime, getClusterTime, setBackClusterTime } from '../../operations/time/cluster-time.ts'
import type { TimeCorrected, TimePair } from '../../state-machine/time/log-time.ts'
import { adminRoute, type Answer } from '../route.ts'
import { orNull, Time, timeText, timeTextOrNull } from '../wire.ts'
import { changeRoute } from './mutation.ts'
import { REASON } from './queries.ts'

const OffsetMs = Type.Integer({ description: 'Of this clock; ahead of the majority is positive' })
const WithheldMs = Type.Integer({
  minimum: 0,
  description: 'So far the confirmed time lags behind the time of the log: by steps that are not confirmed',
})

export const ClusterTimeView = Type.Object(
  {
    nodeId: Type.String({ description: 'The node that answers' }),
    logTime: Type.String({ format: 'date-time', description: 'Of the last entry applied at this node' }),
    confirmedTime: Type.String({
      format: 'date-time',
      description: 'By which retention and uploads end, and the audit log is trimmed',
    }),
    withheldMs: WithheldMs,
    majorityTime: orNull(
      Type.String({
        format: 'date-time',
        description: 'What the clocks of a majority have reached; null: not known at this node now',
      }),
    ),
    offsetMs: orNull(OffsetMs),
    offsets: Type.Array(Type.Object({ nodeId: Type.String(), offsetMs: OffsetMs }), {
      description: 'At the leader: of each voter that answered within the last second',
    }),
  },
  { additionalProperties: false },
)
const Pair = Type.Object({ logTime: Time, confirmedTime: Time })
const CorrectedView = Type.Object({ before: Pair, after: Pair }, { additionalProperties: false })
const Confirmation = Type.Object({ withheldMs: WithheldMs, ...REASON }, { additionalProperties: false })
const SettingBack = Type.Object(
  {
    majorityTime: Type.String({ format: 'date-time', description: 'As it was shown within five minutes' }),
    ...REASON,
  },
  { additionalProperties: false },
)
const SET_BACK_WARNING =
  'Retention that is stored keeps its date, and nothing is deleted; what was made while the time was ahead keeps its dates'

export const timeRoutes = [
  adminRoute(
    getClusterTime,
    {
      method: 'GET',
      path: '/cluster/time',
      summary: 'Get the time of the log, what of it is withheld, and how far clocks are off',
      success: {
        status: 200,
        description: 'What this node knows',
        content: { type: 'application/json', schema: ClusterTimeView },
      },
      example: {},
    },
    async (services, principal): Promise<Answer> => {
      const status = await getClusterTime(services, principal)
      return { kind: 'json', body: timeView(status, services.cluster.nodeId) }
    },
  ),

  changeRoute(
    confirmClusterTime,
    {
      method: 'POST',
      path: '/cluster/time/confirm',
      summary: 'Confirm that what was withheld of the time is true; what became due by it ends for good',
      body: { schema: Confirmation },
      plan: ClusterTimeView,
      answers: 'The time before and after, or the plan of a dry run',
      view: CorrectedView,
      example: {
        query: { dryRun: 'true' },
        body: { withheldMs: 864_000_000, reason: 'It was switched off for ten days' },
      },
    },
    {
      run: (services, principal, { body }) => confirmClusterTime(services, principal, body),
      plan: async ({ cluster }) => {
        const warnings = ['Retention, uploads and audit rows end by the confirmed time, for good']
        return { plan: timeView(cluster.time.status(), cluster.nodeId), warnings }
      },
      answer: correctedView,
    },
  ),

  changeRoute(
    setBackClusterTime,
    {
      method: 'POST',
      path: '/cluster/time/set-back',
      summary: 'Set the time of the log back to that of the majority, after it has run ahead',
      body: { schema: SettingBack },
      plan: ClusterTimeView,
      answers: 'The time before and after, or the plan of a dry run',
      view: CorrectedView,
      example: {
        query: { dryRun: 'true' },
        body: { majorityTime: '2026-11-23T12:00:00.000Z', reason: 'All clocks were ahead for an hour' },
      },
    },
    {
      run: (services, principal, { body: { majorityTime, reason } }) =>
        setBackClusterTime(services, principal, { majorityTime: parseTimestamp(majorityTime) ?? 0, reason }),
      plan: async ({ cluster }) => {
        return { plan: timeView(cluster.time.status(), cluster.nodeId), warnings: [SET_BACK_WARNING] }
      },
      answer: correctedView,
    },
  ),
]

function timeView(
  { logTime, confirmedTime, majorityTime, offsetMs, offsets }: ClusterTimeStatus,
  nodeId: string,
): Static<typeof ClusterTimeView> {
  return {
    nodeId,
    logTime: timeText(logTime),
    confirmedTime: timeText(confirmedTime),
    withheldMs: logTime - confirmedTime,
    majorityTime: timeTextOrNull(majorityTime),
    offsetMs,
    offsets: offsets.map((one) => ({ ...one })),
  }
}

function correctedView({ before, after }: TimeCorrected): Static<typeof CorrectedView> {
  return { before: pairView(before), after: pairView(after) }
}

function pairView({ time, confirmedTime }: TimePair): Static<typeof Pair> {
  return { logTime: timeText(time), confirmedTime: timeText(confirmedTime) }
}
