/**
 * Quorum recoveries: their effect on the members, and their permanent record.
 *
 * Owns: recoverCluster, the row of all recoveries. Knows nothing of: logs, epochs, how a plan is made; rereplications.ts is about copies.
 * Rules: the dead nodes leave permanently in the entry that brings the cluster back, and their copies are made again like those of any
 * lost member; an unfinished membership change that relied on votes that are gone ends; the row is never shortened.
 */
import { longOperationKeys } from '../long-operations/keys.ts'
import { memberKeys } from './keys.ts'
import type { ApplyContext, View } from '../base/view.ts'
import type { MembershipCommand } from './commands.ts'
import { type ClusterRecovery, DEPARTED_MAX, type MemberRecord, type MembersRecord } from './records.ts'
import type { LongOperation } from '../long-operations/records.ts'
import type { Draft } from '../base/draft.ts'
import { departing, memberIn, membersOf, putMembers, replaced } from './members.ts'
import { isMembership } from './membership.ts'
import { beginOperation, setOperationStatus, unfinishedOperations } from '../long-operations/operations.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'

type Recover = Extract<MembershipCommand, { type: 'recoverCluster' }>

/** All recoveries are in one row. A plan for one more is refused before anything is changed. */
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
  const { type: _, ...plan } = command
  const earlier = clusterRecoveries(draft)
  const known = earlier.find(({ planId }) => planId === plan.planId)
  if (known !== undefined) return accept(known)
  const fault = recoveryFault(draft, plan.dead)
  if (fault !== null) return refuse('precondition_failed', `Cannot recover: ${fault}`)
  const recovery = { ...plan, at: context.time, index: context.index }
  draft.put(memberKeys.clusterRecoveries(), { recoveries: [...earlier, recovery] })
  const continuing = endChanges(draft, recovery, context)
  const present = membersOf(draft)
  if (present.members.length === 0) return accept(recovery)
  const left = plan.dead.reduce((members, nodeId) => withLost(members, nodeId, recovery, context), present)
  const members = left.members.flatMap((member) => settled(member, recovery, continuing) ?? [])
  const change = continuing.find(({ operationId }) => operationId === present.change)?.operationId ?? null
  putMembers(draft, { ...left, members, configIndex: context.index, change })
  for (const nodeId of plan.dead)
    if (memberIn(present, nodeId) !== undefined) startLost(draft, nodeId, recovery, context)
  return accept(recovery)
}

/** Returns the operations that continue. That of a lost member continues at `repair`, because this entry has removed its vote. */
function endChanges(
  draft: Draft,
  recovery: ClusterRecovery,
  context: ApplyContext,
): readonly LongOperation[] {
  const continuing: LongOperation[] = []
  for (const operation of unfinishedOperations(draft)) {
    const { operationId, kind } = operation
    if (!isMembership(kind)) continue
    if (kind === 'lost')
      draft.put(longOperationKeys.operation(operationId), { ...operation, cursor: 'repair' })
    else if (isOfSurvivors(operation, recovery)) continuing.push(operation)
    else {
      const error = `Ended by the recovery ${recovery.planId}: look at the members and ask again`
      setOperationStatus(draft, { type: 'setOperationStatus', operationId, action: 'fail', error }, context)
    }
  }
  return continuing
}

/** Whether all nodes that the operation needs survive, and it relies on no vote that the recovery has moved. */
function isOfSurvivors(operation: LongOperation, { survivors, voters }: ClusterRecovery): boolean {
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

/** Null: the member leaves the list. A joining node without a continuing operation leaves it and may join again. */
function settled(
  member: MemberRecord,
  { survivors, voters }: ClusterRecovery,
  continuing: readonly LongOperation[],
): MemberRecord | null {
  const { nodeId, phase } = member
  if (phase === 'lost') return member
  if (!survivors.includes(nodeId)) return null
  if (voters.includes(nodeId)) return { ...member, phase: 'active' }
  const isAwaited = continuing.some(({ newcomer }) => newcomer === nodeId)
  return phase === 'joining' && !isAwaited ? null : member
}

/** Like an operator's `lost` operation, from the step after the removal of the vote. */
function startLost(
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
  const started = beginOperation(draft, asked, context)
  draft.put(longOperationKeys.operation(operationId), {
    ...started,
    status: 'running',
    startedAt: context.time,
    phase: 'making its copies elsewhere',
    cursor: 'repair',
    newcomer: null,
  })
}
