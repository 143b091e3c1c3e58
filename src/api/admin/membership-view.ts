/** The members of the cluster on the wire. [decisions 12] */
import Type, { type Static } from 'typebox'
import type { MembershipOverview } from '../../operations/membership/get-cluster-membership.ts'
import { votesOf } from '../../operations/membership/plan-change.ts'
import { answers } from '../../operations/membership/survey.ts'
import type { MemberRecord } from '../../state-machine/records.ts'
import { orNull, Time, timeText } from '../wire.ts'

const Count = Type.Integer({ minimum: 0 })
const Name = Type.String()

const MemberView = Type.Object(
  {
    nodeId: Name,
    incarnation: orNull(Type.String({ description: 'Of its data directory; null: it has not spoken yet' })),
    role: Type.Enum(['voter', 'learner', 'none']),
    phase: Type.Enum(['joining', 'active', 'draining', 'drained', 'lost']),
    isLeader: Type.Boolean(),
    peerAddress: Type.String(),
    dataAddress: orNull(Type.String()),
    adminAddress: orNull(Type.String()),
    zone: Type.String(),
    weight: Type.Number(),
    reachable: orNull(Type.Boolean({ description: 'Whether it answered; null: it was not asked' })),
    lastContactMs: orNull(Type.Number({ minimum: 0, description: 'Since the leader heard it' })),
    matchIndex: orNull(Count),
    version: orNull(Type.String()),
    featureLevel: orNull(
      Type.Integer({ minimum: 1, description: 'Highest that its version knows; null: it did not answer' }),
    ),
    disk: orNull(Type.Object({ totalBytes: Count, usedBytes: Count })),
    drained: Type.Boolean(),
    addedAt: Time,
  },
  { additionalProperties: false },
)

export const MembershipView = Type.Object(
  {
    clusterId: Type.String(),
    authoritative: Type.Boolean({ description: 'false: as the asked node has it, which may be old' }),
    term: Count,
    configIndex: Type.Integer({ minimum: 0, description: 'For expectedConfigIndex' }),
    committedIndex: Count,
    leaderId: orNull(Name),
    featureLevel: Type.Integer({
      minimum: 1,
      description:
        'Of the state: what a version must know to take part. It rises when every member knows more',
    }),
    quorum: Count,
    failureTolerance: Count,
    changeInProgress: orNull(Type.String({ description: 'Id of the operation that may move votes now' })),
    members: Type.Array(MemberView),
    departed: Type.Array(
      Type.Object({
        nodeId: Name,
        incarnation: orNull(Type.String()),
        how: Type.Enum(['lost', 'removed']),
        reason: orNull(Type.String()),
        at: Time,
      }),
      { description: 'Names that are never used again' },
    ),
    recoveries: Type.Array(Type.Object({}), { description: 'Always empty in this version' }),
  },
  { additionalProperties: false },
)

export function membershipView(overview: MembershipOverview): Static<typeof MembershipView> {
  const { clusterId, isLocal, rows, status } = overview
  const { majority, failureTolerance } = votesOf(status.configuration.voters)
  return {
    clusterId,
    authoritative: !isLocal,
    term: status.term,
    configIndex: rows.configIndex,
    committedIndex: status.commitIndex,
    leaderId: status.leaderId,
    featureLevel: status.stateLevel,
    quorum: majority,
    failureTolerance,
    changeInProgress: rows.change,
    members: rows.members.map((member) => memberView(member, overview)),
    departed: rows.departed.map(({ nodeId, incarnation, how, reason, at }) => {
      return { nodeId, incarnation, how, reason, at: timeText(at) }
    }),
    recoveries: [],
  }
}

function memberView(member: MemberRecord, overview: MembershipOverview): Static<typeof MemberView> {
  const { status, survey, disks, isLocal } = overview
  const { nodeId, phase, addedAt, ...record } = member
  const { voters, outgoing, learners } = status.configuration
  const isVoter = voters.includes(nodeId) || outgoing.includes(nodeId)
  const peer = status.peers.find((one) => one.nodeId === nodeId)
  const isLeader = status.isLeader && status.nodeId === nodeId
  const disk = disks.find((one) => one.nodeId === nodeId)?.disk ?? null
  const used = disk === null ? 0 : Math.max(0, disk.totalBytes - disk.freeBytes)
  return {
    ...record,
    nodeId,
    phase,
    role: isVoter ? 'voter' : learners.includes(nodeId) ? 'learner' : 'none',
    isLeader,
    reachable: isLocal && !survey.has(nodeId) ? null : answers(survey, nodeId),
    lastContactMs: isLeader ? 0 : (peer?.silentMs ?? null),
    matchIndex: isLeader ? status.commitIndex : (peer?.matchIndex ?? null),
    disk: disk && { totalBytes: disk.totalBytes, usedBytes: used },
    drained: phase === 'drained',
    featureLevel: survey.get(nodeId)?.featureLevel ?? null,
    addedAt: timeText(addedAt),
  }
}
