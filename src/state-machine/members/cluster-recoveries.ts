/**
 * Recoveries from a lost quorum: what they mean for who belongs, and that they were.
 *
 * Owns: recoverCluster, the row of all recoveries. Knows nothing of: logs, epochs, how a plan is made; recoveries.ts is about copies.
 * Rules: the dead leave for ever in the entry that brings the others back, and their copies are made again as those of any lost member;
 * a change of the members that was under way ends, because the votes it counted on are gone; the row is never shortened.
 */
import { operationKeys } from '../operations/keys.ts'
import { memberKeys } from './keys.ts'
import type { ApplyContext, View } from '../base/view.ts'
import type { MembershipCommand } from './commands.ts'
import { type ClusterRecovery, DEPARTED_MAX, type MemberRecord, type MembersRecord } from './records.ts'
import type { OperationRecord } from '../operations/records.ts'
import type { Draft } from '../base/draft.ts'
import { departing, memberIn, membersOf, putMembers, replaced } from './members.ts'
import { isMembership } from './membership.ts'
import { beginOperation, setOperationStatus, unfinishedOperations } from '../operations/operations.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'

type Recover = Extract<MembershipCommand, { type: 'recoverCluster' }>

/** They lie in one row. A plan for one more is refused before anything is changed. */
export const CLUSTER_RECOVERIES_MAX = 256

export function clusterRecoveries(view: View): readonly ClusterRecovery[] {
  return view.get(memberKeys.clusterRecoveries())?.recoveries ?? []
}

/** Why no plan may be made on this state; null: one may. */
export function recoveryFault(view: View, dead: readonly string[]): string | null {
  const { departed } = membersOf(view)
  if (clusterRecoveries(view).length >= CLUSTER_RECOVERIES_MAX) return 'there were too many recoveries'
  return departed.length + dead.length > DEPARTED_MAX ? 'too many members have left' : null
}

export function recoverCluster(
  draft: Draft,
  command: Recover,
  context: ApplyContext,
): Accepted<ClusterRecovery> | Refused {
  const { type: _, ...told } = command
  const earlier = clusterRecoveries(draft)
  const known = earlier.find(({ planId }) => planId === told.planId)
  if (known !== undefined) return accept(known)
  const fault = recoveryFault(draft, told.dead)
  if (fault !== null) return refuse('precondition_failed', `Cannot recover: ${fault}`)
  const recovery = { ...told, at: context.time, index: context.index }
  draft.put(memberKeys.clusterRecoveries(), { recoveries: [...earlier, recovery] })
  const goesOn = endChanges(draft, recovery, context)
  const present = membersOf(draft)
  if (present.members.length === 0) return accept(recovery)
  const left = told.dead.reduce((members, nodeId) => withLost(members, nodeId, recovery, context), present)
  const members = left.members.flatMap((member) => settled(member, recovery, goesOn) ?? [])
  const change = goesOn.find(({ operationId }) => operationId === present.change)?.operationId ?? null
  putMembers(draft, { ...left, members, configIndex: context.index, change })
  for (const nodeId of told.dead)
    if (memberIn(present, nodeId) !== undefined) beginLost(draft, nodeId, recovery, context)
  return accept(recovery)
}

/** Gives those that go on. A lost member's does from where its vote is gone: that has gone with this entry. */
function endChanges(
  draft: Draft,
  recovery: ClusterRecovery,
  context: ApplyContext,
): readonly OperationRecord[] {
  const goesOn: OperationRecord[] = []
  for (const operation of unfinishedOperations(draft)) {
    const { operationId, kind } = operation
    if (!isMembership(kind)) continue
    if (kind === 'lost') draft.put(operationKeys.operation(operationId), { ...operation, cursor: 'repair' })
    else if (isOfSurvivors(operation, recovery)) goesOn.push(operation)
    else {
      const error = `Ended by the recovery ${recovery.planId}: look at the members and ask again`
      setOperationStatus(draft, { type: 'setOperationStatus', operationId, action: 'fail', error }, context)
    }
  }
  return goesOn
}

/** Nobody that it needs is dead, and it counts on no vote that the recovery has moved. */
function isOfSurvivors(operation: OperationRecord, { survivors, voters }: ClusterRecovery): boolean {
  const { kind, cursor, node, newcomer } = operation
  if (kind === 'join') return survivors.includes(newcomer ?? '')
  const isEmptied = cursor === 'drain' || cursor === 'verify' || cursor === 'exclude'
  return isEmptied && survivors.includes(node ?? '') && !voters.includes(node ?? '')
}

function withLost(
  present: MembersRecord,
  nodeId: string,
  { planId }: ClusterRecovery,
  context: ApplyContext,
): MembersRecord {
  const member = memberIn(present, nodeId)
  const phased = member === undefined ? present : replaced(present, { ...member, phase: 'lost' })
  return departing(phased, { nodeId, how: 'lost', reason: `recovery ${planId}` }, context)
}

/** Null: it leaves the list. Without a vote, and with nobody who goes on to give it one, it can be taken in again. */
function settled(
  member: MemberRecord,
  { survivors, voters }: ClusterRecovery,
  goesOn: readonly OperationRecord[],
): MemberRecord | null {
  const { nodeId, phase } = member
  if (phase === 'lost') return member
  if (!survivors.includes(nodeId)) return null
  if (voters.includes(nodeId)) return { ...member, phase: 'active' }
  const isAwaited = goesOn.some(({ newcomer }) => newcomer === nodeId)
  return phase === 'joining' && !isAwaited ? null : member
}

/** As when an operator calls it lost, from where its vote is gone already. */
function beginLost(
  draft: Draft,
  node: string,
  { planId, dead }: ClusterRecovery,
  context: ApplyContext,
): void {
  const running = unfinishedOperations(draft).some((one) => one.kind === 'lost' && one.node === node)
  if (running) return
  const scope = { tenantId: null, bucket: null, node, maxBytesPerSecond: null }
  const operationId = `op_${planId.replace(/^\w+_/, '')}${dead.indexOf(node)}`
  const reason = `recovery ${planId}`
  const asked = { operationId, kind: 'lost', requestedBy: 'system', reason, ...scope } as const
  const begun = beginOperation(draft, asked, context)
  draft.put(operationKeys.operation(operationId), {
    ...begun,
    status: 'running',
    startedAt: context.time,
    phase: 'making its copies elsewhere',
    cursor: 'repair',
    newcomer: null,
  })
}
