/**
 * Membership operations: what may start, and the effect of each step on the rows.
 *
 * Owns: startMembership, stepMembership, undoMembership. Knows nothing of: how a configuration changes; the driver has changed it
 * before it proposes the step. Rule: a change that has moved votes is never undone; cancelling it earlier restores the previous members.
 */
import { longOperationKeys } from '../long-operations/keys.ts'
import type { ApplyContext, View } from '../base/view.ts'
import { isRevocable } from '../long-operations/cancelling.ts'
import type { Draft } from '../base/draft.ts'
import type { MembershipCommand } from './commands.ts'
import { MEMBER_RULES_LEVEL, type MemberRecord, type MembersRecord } from './records.ts'
import type {
  MembershipKind,
  MembershipStep,
  LongOperationProgress,
  LongOperation,
} from '../long-operations/records.ts'
import {
  added,
  departing,
  memberIn,
  membersOf,
  joinFault,
  putMembers,
  replaced,
  type StartedMembership,
} from './members.ts'
import {
  beginOperation,
  isFinished,
  setOperationStatus,
  unfinishedOperations,
  withStatus,
  workable,
} from '../long-operations/operations.ts'
import { type Accepted, accept, blocked, type Refused, refuse } from '../base/reply.ts'

type Start = Extract<MembershipCommand, { type: 'startMembership' }>
type Step = Extract<MembershipCommand, { type: 'stepMembership' }>

/** The steps of each kind, in order. */
export const STEPS_BY_KIND: Readonly<Record<MembershipKind, readonly MembershipStep[]>> = {
  join: ['catchUp', 'promote', 'done'],
  demote: ['demote', 'drain', 'verify', 'done'],
  replace: ['catchUp', 'promote', 'drain', 'verify', 'exclude', 'done'],
  lost: ['exclude', 'repair', 'done'],
  remove: ['exclude', 'done'],
}

/** Steps in which votes may move: only one operation at a time may be in one of them. */
const CHANGES_VOTES: readonly MembershipStep[] = ['catchUp', 'promote', 'demote', 'exclude']

export function isMembership(kind: LongOperation['kind']): kind is MembershipKind {
  return Object.hasOwn(STEPS_BY_KIND, kind)
}

export function startMembership(draft: Draft, command: Start, context: ApplyContext): StartedMembership {
  const present = membersOf(draft)
  const known = draft.get(longOperationKeys.operation(command.operationId))
  if (known !== undefined) return accept({ operation: known, configIndex: present.configIndex })
  if (isDone(present, command)) return accept({ operation: null, configIndex: present.configIndex })
  const fault = changeFault(present, command) ?? startFault(draft, command, context)
  if (fault !== null) return fault
  const { operationId, kind, requestedBy, reason, nodeId: node, newcomer } = command
  const scope = { tenantId: null, bucket: null, node, maxBytesPerSecond: null }
  const started = beginOperation(draft, { operationId, kind, requestedBy, reason, ...scope }, context)
  const operation: LongOperation = {
    ...started,
    status: 'running',
    startedAt: context.time,
    phase: kind === 'lost' && context.featureLevel >= MEMBER_RULES_LEVEL ? 'taking its vote' : 'begun',
    cursor: STEPS_BY_KIND[kind][0] ?? 'done',
    newcomer: newcomer?.nodeId ?? null,
    progress: { ...started.progress, ...totalOf(command, context) },
    ...dueIn(command, context),
  }
  draft.put(longOperationKeys.operation(operationId), operation)
  const members = withStart(present, command, context)
  putMembers(draft, { ...members, configIndex: context.index, change: operationId })
  return accept({ operation, configIndex: context.index })
}

function totalOf({ toMove }: Start, { featureLevel }: ApplyContext): Partial<LongOperationProgress> {
  if (featureLevel < MEMBER_RULES_LEVEL || toMove === undefined) return {}
  return { blobsTotal: toMove.copies, bytesTotal: toMove.bytes }
}

function dueIn(
  { dueInMs }: Pick<Start, 'dueInMs'>,
  { time, featureLevel }: ApplyContext,
): Pick<LongOperation, 'dueAt'> {
  if (featureLevel < MEMBER_RULES_LEVEL || dueInMs === undefined) return {}
  return { dueAt: time + dueInMs }
}

/** Takes one step, or reports the phase of the present step. */
export function stepMembership(
  draft: Draft,
  command: Step,
  context: ApplyContext,
): Accepted<LongOperation> | Refused {
  const { operationId, from, to, phase, blocker } = command
  const present = workable(draft, operationId, 'step')
  if (!present.ok) return present
  const { kind, cursor } = present.value
  if (!isMembership(kind))
    return refuse('invalid_argument', `Cannot step: "${operationId}" does not change members`)
  if (cursor !== from) return refuse('precondition_failed', `Cannot step: "${operationId}" is at ${cursor}`)
  const { blocker: _past, ...rest } = present.value
  const operation = {
    ...rest,
    phase,
    ...(blocker === undefined ? {} : { blocker }),
    ...dueIn(command, context),
  }
  if (from === to) {
    draft.put(longOperationKeys.operation(operationId), operation)
    return accept(operation)
  }
  const steps = STEPS_BY_KIND[kind]
  if (steps[steps.indexOf(from) + 1] !== to)
    return refuse('invalid_argument', `Cannot step: ${kind} has no step from ${from} to ${to}`)
  const members = membersOf(draft)
  if (CHANGES_VOTES.includes(to) && members.change !== null && members.change !== operationId)
    return inProgress(members.change)
  if (to === 'done' && operation.progress.tasksOpen > 0)
    return refuse('precondition_failed', `Cannot step: "${operationId}" has copies to make`)
  // The step may have moved votes, so a request to cancel came too late.
  const { isRevoked: _tooLate, ...continuing } = operation
  const stepped = { ...continuing, cursor: to }
  draft.put(longOperationKeys.operation(operationId), stepped)
  const change = changeAfter(members, operationId, to)
  putMembers(draft, { ...withStep(members, stepped, context), configIndex: context.index, change })
  if (to !== 'done') return accept(stepped)
  const end = { type: 'setOperationStatus', operationId, action: 'finish', error: null } as const
  return setOperationStatus(draft, end, context)
}

/** Idempotent. No vote has moved: the name of a joining node is free again, and a member that was to lose its vote keeps it. */
export function undoMembership(
  draft: Draft,
  { operationId }: Extract<MembershipCommand, { type: 'undoMembership' }>,
  context: ApplyContext,
): Accepted<MembersRecord> | Refused {
  const present = membersOf(draft)
  const operation = draft.get(longOperationKeys.operation(operationId))
  if (present.change !== operationId || operation === undefined) return accept(present)
  const isGivenUp = isFinished(operation.status) && operation.cursor === 'catchUp'
  const isRevoked = !isFinished(operation.status) && operation.isRevoked === true && isRevocable(operation)
  if (!isGivenUp && !isRevoked)
    return refuse('precondition_failed', `Cannot undo "${operationId}": it was not cancelled`)
  if (isRevoked) withStatus(draft, { ...operation, phase: 'given up' }, 'cancelled', context)
  const undone = { ...asBefore(present, operation), configIndex: context.index, change: null }
  putMembers(draft, undone)
  return accept(undone)
}

function asBefore(present: MembersRecord, { kind, node, newcomer }: LongOperation): MembersRecord {
  if (kind === 'demote') return withVote(present, node)
  const members = present.members.filter(({ nodeId, phase }) => nodeId !== newcomer || phase !== 'joining')
  return { ...present, members }
}

function changeAfter({ change }: MembersRecord, operationId: string, to: MembershipStep): string | null {
  if (CHANGES_VOTES.includes(to)) return operationId
  return change === operationId ? null : change
}

function inProgress(operationId: string): Refused {
  return refuse(
    'membership_change_in_progress',
    `Cannot change the members: operation "${operationId}" is changing them; wait for it, or cancel it while it has not moved a vote`,
  )
}

/** Whether the members are already as requested. */
function isDone(present: MembersRecord, { kind, nodeId, newcomer }: Start): boolean {
  const member = memberIn(present, nodeId)
  const isGone = present.departed.some((gone) => gone.nodeId === nodeId)
  switch (kind) {
    case 'join':
      return member?.phase === 'active' && member.peerAddress === newcomer?.peerAddress
    case 'demote':
      return member?.phase === 'draining' || member?.phase === 'drained'
    case 'lost':
      return isGone && (member === undefined || member.phase === 'lost')
    case 'remove':
      return isGone && member === undefined
    case 'replace':
      return isGone && member === undefined && memberIn(present, newcomer?.nodeId ?? '')?.phase === 'active'
  }
}

/** Why the members may not be changed now, or not from the index that the caller saw. */
export function changeFault(
  present: MembersRecord,
  { expectedConfigIndex: expected }: Pick<Start, 'expectedConfigIndex'>,
): Refused | null {
  if (present.members.length === 0)
    return refuse('precondition_failed', 'Cannot change the members: the cluster is not founded yet')
  if (present.change !== null) return inProgress(present.change)
  if (expected === null || expected === present.configIndex) return null
  return refuse(
    'stale_config_index',
    `Cannot change the members: their index is ${present.configIndex}, not ${expected}; look at the members before you try again`,
  )
}

function startFault(view: View, command: Start, context: ApplyContext): Refused | null {
  const present = membersOf(view)
  const { kind, nodeId, newcomer } = command
  const needsJoining = kind === 'join' || kind === 'replace'
  if (needsJoining !== (newcomer !== null))
    return refuse(
      'invalid_argument',
      `Cannot ${kind} "${nodeId}": a joining node is named for join and replace, and only for these`,
    )
  if (newcomer !== null) {
    const fault = joinFault(present, newcomer, context)
    if (fault !== null) return fault
  }
  if (kind === 'join') return null
  const member = memberIn(present, nodeId)
  if (member === undefined)
    return refuse(
      'not_found',
      `Cannot ${kind} "${nodeId}": no member has this name; look at who the members are`,
    )
  if (kind === 'remove') return removalFault(view, member)
  const isTaken = kind === 'replace' && member.phase === 'lost' && context.featureLevel >= MEMBER_RULES_LEVEL
  if (kind !== 'lost' && member.phase !== 'active' && !isTaken) return voteless(kind, member)
  const votersLeft = present.members.filter(
    ({ phase, nodeId: other }) => phase === 'active' && other !== nodeId,
  ).length
  if (kind !== 'replace' && votersLeft < 1)
    return blocked(
      'below_minimum_voters',
      `Cannot ${kind} "${nodeId}": it is the last voter; join another one first`,
    )
  // From this entry on its messages are ignored, and its vote counts until the next configuration.
  if (kind === 'lost' && member.phase === 'active' && votersLeft === 1)
    return blocked(
      'would_lose_quorum',
      `Cannot mark "${nodeId}" lost: two voters need each other for a quorum; join another voter first, or bring it back`,
    )
  return null
}

function voteless(kind: MembershipKind, { nodeId, phase }: MemberRecord): Refused {
  const cannot = `Cannot ${kind} "${nodeId}": it is ${phase} and has no vote`
  if (phase === 'joining') return blocked('learner_not_ready', `${cannot} yet; cancel its join to remove it`)
  return blocked(
    'not_demoted',
    `${cannot} any more; remove it when it holds no copies, and join another node`,
  )
}

/** A member is `drained` from the second check on, which finds copies that came meanwhile; so its operation must have ended too. */
function removalFault(view: View, { nodeId, phase }: MemberRecord): Refused | null {
  const cannot = `Cannot remove "${nodeId}"`
  if (phase === 'active' || phase === 'joining')
    return blocked('not_demoted', `${cannot}: it is ${phase}; demote it first, or cancel its join`)
  const leaving = unfinishedOperations(view).find((one) => isMembership(one.kind) && one.node === nodeId)
  if (phase !== 'draining' && leaving === undefined) return null
  const until = leaving === undefined ? '' : ` for operation "${leaving.operationId}"`
  return blocked(
    'not_drained',
    `${cannot}: it is ${phase}, and not all of its copies are known to be on other nodes; wait${until}`,
  )
}

function withStart(present: MembersRecord, command: Start, context: ApplyContext): MembersRecord {
  const { kind, nodeId, newcomer, reason } = command
  const joined = newcomer === null ? present : added(present, newcomer, context.time)
  const member = memberIn(joined, nodeId)
  if (member === undefined) return joined
  if (kind === 'demote') return replaced(joined, { ...member, phase: 'draining' })
  if (kind !== 'lost') return joined
  return departing(replaced(joined, { ...member, phase: 'lost' }), { nodeId, how: 'lost', reason }, context)
}

/** The members from this step on. */
function withStep(present: MembersRecord, operation: LongOperation, context: ApplyContext): MembersRecord {
  const { kind, cursor, node, newcomer, reason } = operation
  const nodeId = node ?? ''
  const member = memberIn(present, nodeId)
  const phased = (phase: MemberRecord['phase']): MembersRecord =>
    member === undefined || member.phase === 'lost' ? present : replaced(present, { ...member, phase })
  if (cursor === 'drain' && kind === 'replace') return withVote(phased('draining'), newcomer)
  if (cursor === 'verify') return phased('drained')
  if (cursor !== 'done') return present
  if (kind === 'join') return withVote(present, nodeId)
  if (kind === 'demote' || kind === 'lost') return present
  const gone = departing(present, { nodeId, how: 'removed', reason }, context)
  return { ...gone, members: gone.members.filter((one) => one.nodeId !== nodeId) }
}

function withVote(present: MembersRecord, nodeId: string | null | undefined): MembersRecord {
  const member = memberIn(present, nodeId ?? '')
  return member === undefined ? present : replaced(present, { ...member, phase: 'active' })
}
