/** The members of the cluster on the wire. [decisions 12] */
import Type, { type Static } from 'typebox'
import type { MemberStatus } from '../../../cluster/index.ts'
import { commonChecksum } from '../../operations/membership/equal-states.ts'
import type { MembershipOverview } from '../../operations/membership/get-cluster-membership.ts'
import { conditionsOf } from '../../operations/membership/member-conditions.ts'
import { votesOf } from '../../operations/membership/plan-change.ts'
import { answers } from '../../operations/membership/member-statuses.ts'
import type { ClusterRecovery, MemberRecord } from '../../state-machine/members/records.ts'
import { orNull, Time, timeText } from '../wire.ts'

const Count = Type.Integer({ minimum: 0 })
const Name = Type.String()

export const FilePlaceView = Type.Object(
  { zone: Type.String(), weight: Type.Number() },
  { description: 'What the file of the node says', additionalProperties: false },
)

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
    zone: Type.String({ description: 'In force: what an operator set, or what the file of the node says' }),
    weight: Type.Number(),
    placement: Type.Optional(
      Type.Object(
        {
          zone: orNull(Type.String()),
          weight: orNull(Type.Number({ minimum: 0 })),
          file: FilePlaceView,
        },
        { description: 'What an operator set, null: as in the file. Absent: nothing is set' },
      ),
    ),
    reachable: orNull(Type.Boolean({ description: 'Whether it answered; null: it was not asked' })),
    lastContactMs: orNull(
      Type.Number({
        minimum: 0,
        description: 'Since the leader had an answer from it; in a local view, since the asked node had one',
      }),
    ),
    matchIndex: orNull(Count),
    version: orNull(Type.String()),
    featureLevel: orNull(
      Type.Integer({ minimum: 1, description: 'Highest that its version knows; null: it did not answer' }),
    ),
    disk: orNull(Type.Object({ totalBytes: Count, usedBytes: Count })),
    blobs: orNull(
      Type.Object(
        {
          replicas: Type.Integer({ minimum: 0, description: 'Copies that are listed as being here' }),
          lastCopies: Type.Integer({ minimum: 0, description: 'Of those: no other copy is listed' }),
          countedAt: Time,
        },
        { description: 'Counted now and then by the asked node; null: not yet' },
      ),
    ),
    drained: Type.Boolean(),
    recoveryEpoch: orNull(
      Type.Integer({
        minimum: 0,
        description: 'How often the group was brought back, as this member has it',
      }),
    ),
    stateEqual: orNull(
      Type.Boolean({
        description:
          'Whether its state has the checksum of the leader’s at an index that both have passed; null: there is none in common',
      }),
    ),
    conditions: Type.Optional(
      Type.Array(Type.Object({ code: Type.String(), message: Type.String() }), {
        description:
          'What is wrong with its data directory, and what to do: `member_rolled_back`, `disk_not_proved_current`, `member_tombstoned`; absent: nothing is',
      }),
    ),
    addedAt: Time,
  },
  { additionalProperties: false },
)

const RecoveryView = Type.Object(
  {
    planId: Type.String(),
    epoch: Type.Integer({ minimum: 1 }),
    plannedAt: Time,
    at: Time,
    index: Count,
    winner: Type.String({ description: 'Whose history was taken' }),
    survivors: Type.Array(Name),
    voters: Type.Array(Name),
    dead: Type.Array(Name),
    certainThrough: Type.Integer({
      minimum: 0,
      description: 'Committed for certain before; what follows up to index was committed by the recovery',
    }),
    isRestored: Type.Boolean({ description: 'From copies of data directories that were put back' }),
    mayMissAfter: orNull(
      Type.Integer({
        minimum: 0,
        description: 'What was acknowledged after it is lost; null: nothing acknowledged is missing',
      }),
    ),
    loss: Type.Object({
      chunks: Type.Integer({ minimum: 0, description: 'Without a copy on any survivor' }),
      versions: Type.Integer({ minimum: 0, description: 'That need one of them' }),
    }),
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
    reasons: Type.Array(Type.String(), {
      description: 'Why the asked node is not ready, in sentences; empty: it is',
    }),
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
    recoveries: Type.Array(RecoveryView, {
      description: 'From lost quorums, the oldest first; never forgotten',
    }),
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
    reasons: [...overview.reasons],
    members: rows.members.map((member) => memberView(member, overview)),
    departed: rows.departed.map(({ nodeId, incarnation, how, reason, at }) => {
      return { nodeId, incarnation, how, reason, at: timeText(at) }
    }),
    recoveries: overview.recoveries.map(recoveryView),
  }
}

function recoveryView({ plannedAt, at, ...recovery }: ClusterRecovery): Static<typeof RecoveryView> {
  const { survivors, voters, dead, ...facts } = recovery
  return {
    ...facts,
    survivors: [...survivors],
    voters: [...voters],
    dead: [...dead],
    plannedAt: timeText(plannedAt),
    at: timeText(at),
  }
}

function memberView(member: MemberRecord, overview: MembershipOverview): Static<typeof MemberView> {
  const { status, memberStatuses, disks, isLocal, replicaCounts } = overview
  const { replicas = 0, lastCopies = 0 } = replicaCounts?.held.get(member.nodeId) ?? {}
  const { nodeId, phase, addedAt, ...record } = member
  const { voters, outgoing, learners } = status.configuration
  const isVoter = voters.includes(nodeId) || outgoing.includes(nodeId)
  const peer = status.peers.find((one) => one.nodeId === nodeId)
  const isLeader = status.isLeader && status.nodeId === nodeId
  const disk = disks.find((one) => one.nodeId === nodeId)?.disk ?? null
  const reported = memberStatuses.get(nodeId) ?? null
  const conditions = conditionsOf(nodeId, { asked: overview.own, leader: status, member: reported })
  const used = disk === null ? 0 : Math.max(0, disk.totalBytes - disk.freeBytes)
  return {
    ...record,
    nodeId,
    phase,
    role: isVoter ? 'voter' : learners.includes(nodeId) ? 'learner' : 'none',
    isLeader,
    reachable: isLocal && !memberStatuses.has(nodeId) ? null : answers(memberStatuses, nodeId),
    lastContactMs: contactOf(nodeId, overview),
    matchIndex: isLeader ? status.commitIndex : (peer?.matchIndex ?? null),
    disk: disk && { totalBytes: disk.totalBytes, usedBytes: used },
    blobs: replicaCounts && { replicas, lastCopies, countedAt: timeText(replicaCounts.countedAt) },
    drained: phase === 'drained',
    featureLevel: reported?.featureLevel ?? null,
    recoveryEpoch: reported?.recoveryEpoch ?? null,
    stateEqual: stateEqual(status, reported),
    ...(conditions.length === 0 ? {} : { conditions }),
    addedAt: timeText(addedAt),
  }
}

/** Null: never, as far as the reporting node knows. */
function contactOf(nodeId: string, { status, isLocal }: MembershipOverview): number | null {
  const heardMs = status.heardMs[nodeId] ?? null
  const silentMs = status.peers.find((peer) => peer.nodeId === nodeId)?.silentMs ?? null
  if (nodeId === status.nodeId && (isLocal || status.isLeader)) return 0
  return isLocal ? (heardMs ?? silentMs) : silentMs
}

function stateEqual(leader: MemberStatus, member: MemberStatus | null): boolean | null {
  if (member === null) return null
  const common = commonChecksum(leader, member)
  return common === 'unknown' ? null : common === 'equal'
}
