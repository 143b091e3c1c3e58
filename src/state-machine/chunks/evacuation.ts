/**
 * Copies of a leaving member: where new ones are made, and when its own are struck off.
 *
 * Owns: evacuateCopies. Knows nothing of: placement; the driver has determined the targets.
 * Rules: the copy of a reachable member is struck off only when `copiesKept` others are listed; the copy of a lost member is struck off
 * at once, because no node can read it. The last listed copy stays listed: the row is the only record of where the bytes may be.
 */
import { longOperationKeys } from '../long-operations/keys.ts'
import { chunkKeys } from './keys.ts'
import type { ApplyContext } from '../base/view.ts'
import { changeChunk } from './chunk-rows.ts'
import { tooMany } from '../base/batch-bound.ts'
import { grantTasks } from './copies.ts'
import type { ChunkRecord } from './records.ts'
import type { Evacuation, MembershipCommand } from '../members/commands.ts'
import { MEMBER_RULES_LEVEL } from '../members/records.ts'
import type { Draft } from '../base/draft.ts'
import { mayHold, memberIn, membersOf } from '../members/members.ts'
import { countTasks, NO_PROGRESS, workable } from '../long-operations/operations.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'

interface LeavingNode {
  readonly nodeId: string
  readonly isLost: boolean
  readonly operation: string
}

export function evacuateCopies(
  draft: Draft,
  { operation, items }: Extract<MembershipCommand, { type: 'evacuateCopies' }>,
  context: ApplyContext,
): Accepted<{ readonly moved: number; readonly last: number }> | Refused {
  const fault = tooMany('evacuate copies', items.length)
  if (fault !== null) return fault
  const running = workable(draft, operation, 'evacuate copies')
  if (!running.ok) return running
  const nodeId = running.value.node ?? ''
  const phase = memberIn(membersOf(draft), nodeId)?.phase
  if (phase !== 'draining' && phase !== 'drained' && phase !== 'lost')
    return refuse('precondition_failed', `Cannot evacuate copies: "${nodeId}" is not leaving`)
  const leavingNode = { nodeId, isLost: phase === 'lost', operation }
  const isCounted = context.featureLevel >= MEMBER_RULES_LEVEL
  let [moved, last] = [0, 0]
  for (const item of items) {
    const before = draft.get(chunkKeys.chunk(item.tenantId, item.chunkId))
    if (before === undefined || before.birth !== item.birth) continue
    const { after, target } = evacuated(draft, before, item, leavingNode)
    if (after.replicas.includes(nodeId)) last++
    if (after.replicas.length === before.replicas.length && after.owed.join() === before.owed.join()) continue
    const move = { replaces: leavingNode.isLost ? null : nodeId, copiesKept: item.copiesKept, operation }
    const granted = target === null ? [] : grantTasks(after, [target], context, move)
    changeChunk(draft, { before, after, granted })
    const isStruck = before.replicas.includes(nodeId) && !after.replicas.includes(nodeId)
    if (isCounted && isStruck && target === null) countSpared(draft, operation, before.sealedSize)
    moved++
  }
  return accept({ moved, last })
}

/** Enough other nodes hold the chunk: it counts as done without moving its bytes. */
function countSpared(draft: Draft, operation: string, bytes: number): void {
  const progress = draft.get(longOperationKeys.operation(operation))?.progress ?? NO_PROGRESS
  const left = Math.max(0, progress.bytesTotal - progress.bytesMoved)
  countTasks(draft, operation, { skipped: 1, bytesTotal: -Math.min(bytes, left) })
}

function evacuated(
  draft: Draft,
  before: ChunkRecord,
  item: Evacuation,
  { nodeId, isLost }: LeavingNode,
): { readonly after: ChunkRecord; readonly target: string | null } {
  const others = before.replicas.filter((node) => node !== nodeId)
  const needed = isLost ? 1 : Math.max(1, item.copiesKept)
  // A copy on another lost member does not count.
  const readable = others.filter((node) => mayHold(draft, node))
  const replicas = readable.length >= needed ? others : before.replicas
  const owed = before.owed.filter((node) => node !== nodeId)
  const { target } = item
  const isNew = target !== null && !before.replicas.includes(target) && !owed.includes(target)
  if (!isNew || !mayHold(draft, target)) return { after: { ...before, replicas, owed }, target: null }
  return { after: { ...before, replicas, owed: [...owed, target] }, target }
}
