/**
 * Membership operations, step by step: what may begin, what each step means for the rows.
 *
 * Owns: startMembership, stepMembership, undoMembership. Knows nothing of: how a configuration changes, which the driver has done
 * when it tells of a step. Rule: what has moved votes is never taken back; before that all is as it was when the operation is given up.
 */
import { operationKeys } from '../operations/keys.ts'
import type { ApplyContext, View } from '../base/view.ts'
import { isRevocable } from '../operations/cancelling.ts'
import type { Draft } from '../base/draft.ts'
import type { MembershipCommand } from './commands.ts'
import { MEMBER_RULES_LEVEL, type MemberRecord, type MembersRecord } from './records.ts'
import type {
  MembershipKind,
  MembershipStep,
  OperationProgress,
  OperationRecord,
} from '../operations/records.ts'
import {
  added,
  departing,
  memberIn,
  membersOf,
  newcomerFault,
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
} from '../operations/operations.ts'
import { type Accepted, accept, blocked, type Refused, refuse } from '../base/reply.ts'

type Start = Extract<MembershipCommand, { type: 'startMembership' }>
type Step = Extract<MembershipCommand, { type: 'stepMembership' }>

/** The way of each kind. */
export const STEPS_BY_KIND: Readonly<Record<MembershipKind, readonly MembershipStep[]>> = {
  join: ['catchUp', 'promote', 'done'],
  demote: ['demote', 'drain', 'verify', 'done'],
  replace: ['catchUp', 'promote', 'drain', 'verify', 'exclude', 'done'],
  lost: ['exclude', 'repair', 'done'],
  remove: ['exclude', 'done'],
}

/** Steps in which votes may move: whoever takes one is the only one. */
const CHANGES_VOTES: readonly MembershipStep[] = ['catchUp', 'promote', 'demote', 'exclude']

export function isMembership(kind: OperationRecord['kind']): kind is MembershipKind {
  return Object.hasOwn(STEPS_BY_KIND, kind)
}

export function startMembership(draft: Draft, command: Start, context: ApplyContext): StartedMembership {
  const present = membersOf(draft)
  const known = draft.get(operationKeys.operation(command.operationId))
  if (known !== undefined) return accept({ operation: known, configIndex: present.configIndex })
  if (isDone(present, command)) return accept({ operation: null, configIndex: present.configIndex })
  const fault = changeFault(present, command) ?? startFault(draft, command, context)
  if (fault !== null) return fault
  const { operationId, kind, requestedBy, reason, nodeId: node, newcomer } = command
  const scope = { tenantId: null, bucket: null, node, maxBytesPerSecond: null }
  const begun = beginOperation(draft, { operationId, kind, requestedBy, reason, ...scope }, context)
  const operation: OperationRecord = {
    ...begun,
    status: 'running',
    startedAt: context.time,
    phase: kind === 'lost' && context.featureLevel >= MEMBER_RULES_LEVEL ? 'taking its vote' : 'begun',
    cursor: STEPS_BY_KIND[kind][0] ?? 'done',
    newcomer: newcomer?.nodeId ?? null,
    progress: { ...begun.progress, ...totalOf(command, context) },
    ...dueIn(command, context),
  }
  draft.put(operationKeys.operation(operationId), operation)
  const begunWith = withStart(present, command, context)
  putMembers(draft, { ...begunWith, configIndex: context.index, change: operationId })
  return accept({ operation, configIndex: context.index })
}

function totalOf({ toMove }: Start, { featureLevel }: ApplyContext): Partial<OperationProgress> {
  if (featureLevel < MEMBER_RULES_LEVEL || toMove === undefined) return {}
  return { blobsTotal: toMove.copies, bytesTotal: toMove.bytes }
}

function dueIn(
  { dueInMs }: Pick<Start, 'dueInMs'>,
  { time, featureLevel }: ApplyContext,
): Pick<OperationRecord, 'dueAt'> {
  if (featureLevel < MEMBER_RULES_LEVEL || dueInMs === undefined) return {}
  return { dueAt: time + dueInMs }
}

/** Takes one step, or tells what is being done in the one that stands. */
export function stepMembership(
  draft: Draft,
  command: Step,
  context: ApplyContext,
): Accepted<OperationRecord> | Refused {
  const { operationId, from, to, phase, blocker } = command
  const present = workable(draft, operationId, 'step')
  if (!present.ok) return present
  const { kind, cursor } = present.value
  if (!isMembership(kind))
    return refuse('invalid_argument', `Cannot step: "${operationId}" changes no members`)
  if (cursor !== from) return refuse('precondition_failed', `Cannot step: "${operationId}" is at ${cursor}`)
  const { blocker: _past, ...gone } = present.value
  const operation = {
    ...gone,
    phase,
    ...(blocker === undefined ? {} : { blocker }),
    ...dueIn(command, context),
  }
  if (from === to) {
    draft.put(operationKeys.operation(operationId), operation)
    return accept(operation)
  }
  const way = STEPS_BY_KIND[kind]
  if (way[way.indexOf(from) + 1] !== to)
    return refuse('invalid_argument', `Cannot step: no way of ${kind} leads from ${from} to ${to}`)
  const members = membersOf(draft)
  if (CHANGES_VOTES.includes(to) && members.change !== null && members.change !== operationId)
    return inProgress(members.change)
  if (to === 'done' && operation.progress.tasksOpen > 0)
    return refuse('precondition_failed', `Cannot step: "${operationId}" has copies to make`)
  // Votes have moved if they were to: whoever wanted it given up came too late.
  const { isRevoked: _tooLate, ...goingOn } = operation
  const stepped = { ...goingOn, cursor: to }
  draft.put(operationKeys.operation(operationId), stepped)
  const change = changeAfter(members, operationId, to)
  putMembers(draft, { ...withStep(members, stepped, context), configIndex: context.index, change })
  if (to !== 'done') return accept(stepped)
  const end = { type: 'setOperationStatus', operationId, action: 'finish', error: null } as const
  return setOperationStatus(draft, end, context)
}

/** Idempotent. No vote has moved: the name of a newcomer is free again, who was to lose its vote keeps it. */
export function undoMembership(
  draft: Draft,
  { operationId }: Extract<MembershipCommand, { type: 'undoMembership' }>,
  context: ApplyContext,
): Accepted<MembersRecord> | Refused {
  const present = membersOf(draft)
  const operation = draft.get(operationKeys.operation(operationId))
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

function asBefore(present: MembersRecord, { kind, node, newcomer }: OperationRecord): MembersRecord {
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
    `Cannot change the members: operation "${operationId}" is doing so; wait for it, or cancel it while it has moved no vote`,
  )
}

/** The cluster is what this asks for. */
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

/** Why nobody may change the members now, or not as of the index that was seen. */
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
    `Cannot change the members: they are as of ${present.configIndex}, not ${expected}; look at them before you ask again`,
  )
}

function startFault(view: View, command: Start, context: ApplyContext): Refused | null {
  const present = membersOf(view)
  const { kind, nodeId, newcomer } = command
  const needsNewcomer = kind === 'join' || kind === 'replace'
  if (needsNewcomer !== (newcomer !== null))
    return refuse(
      'invalid_argument',
      `Cannot ${kind} "${nodeId}": who comes is said for join and replace alone`,
    )
  if (newcomer !== null) {
    const fault = newcomerFault(present, newcomer, context)
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
  // It is not heard from this entry on, and its vote counts until the next.
  if (kind === 'lost' && member.phase === 'active' && votersLeft === 1)
    return blocked(
      'would_lose_quorum',
      `Cannot call "${nodeId}" lost: of two voters both decide; join another one first, or bring it back`,
    )
  return null
}

function voteless(kind: MembershipKind, { nodeId, phase }: MemberRecord): Refused {
  const cannot = `Cannot ${kind} "${nodeId}": it is ${phase} and has no vote`
  if (phase === 'joining')
    return blocked('learner_not_ready', `${cannot} yet; cancel its join to send it away`)
  return blocked('not_demoted', `${cannot} any more; remove it when it holds nothing, and join another one`)
}

/** Drained it is called from the second look on: what came meanwhile is found by that. */
function removalFault(view: View, { nodeId, phase }: MemberRecord): Refused | null {
  const cannot = `Cannot remove "${nodeId}"`
  if (phase === 'active' || phase === 'joining')
    return blocked('not_demoted', `${cannot}: it is ${phase}; demote it first, or cancel its join`)
  const leaving = unfinishedOperations(view).find((one) => isMembership(one.kind) && one.node === nodeId)
  if (phase !== 'draining' && leaving === undefined) return null
  const until = leaving === undefined ? '' : ` for operation "${leaving.operationId}"`
  return blocked(
    'not_drained',
    `${cannot}: it is ${phase}, and it is not known yet that all its copies are elsewhere; wait${until}`,
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

/** What holds from the step on. */
function withStep(present: MembersRecord, operation: OperationRecord, context: ApplyContext): MembersRecord {
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
