/**
 * Copies of chunks: owed, made, lost and moved.
 *
 * Owns: the commands of the nodes that hold copies. Knows nothing of: how a copy is made or removed.
 * Rules: a report about one birth never affects another; a copy is listed only at the end of exactly the task that was
 * granted for it; the last listed copy is never struck off; a copy is replaced only while enough others stay.
 */
import { longOperationKeys } from '../long-operations/keys.ts'
import { chunkKeys } from './keys.ts'
import type { ApplyContext, View } from '../base/view.ts'
import { isKeyPart } from '../base/row-key.ts'
import type { ChunkCommand, CopyMove, CopyName } from './commands.ts'
import { tooMany } from '../base/batch-bound.ts'
import type { Draft } from '../base/draft.ts'
import { accept, type Accepted, refuse, type Refused } from '../base/reply.ts'
import { changeChunk, taskKey } from './chunk-rows.ts'
import type { ChunkRecord, RepairRecord } from './records.ts'
import { mayHold } from '../members/members.ts'
import { isFinished, workable } from '../long-operations/operations.ts'
import { countLoss, openRereplication, rereplicationOf } from '../long-operations/rereplications.ts'

type Move = Pick<RepairRecord, 'replaces' | 'copiesKept' | 'operation'>

const PLAIN_REPAIR: Move = { replaces: null, copiesKept: 0, operation: null }

export function grantTasks(
  chunk: ChunkRecord,
  targets: readonly string[],
  context: ApplyContext,
  move: Move = PLAIN_REPAIR,
): readonly RepairRecord[] {
  const { tenantId, id: chunkId, birth } = chunk
  const about = { tenantId, chunkId, birth, since: context.time, permit: context.index }
  return targets.map((target) => ({ ...about, target, ...move }))
}

/** Idempotent: a report about a task that has ended, or was granted again since, changes nothing. */
export function addReplica(
  draft: Draft,
  command: Extract<ChunkCommand, { type: 'addReplica' }>,
): Accepted<null> {
  listCopy(draft, command)
  return accept(null)
}

/** The same for many tasks of one node; each is decided independently. */
export function addReplicas(
  draft: Draft,
  { node, copies }: Extract<ChunkCommand, { type: 'addReplicas' }>,
): Accepted<{ readonly listed: number }> | Refused {
  const fault = tooMany('list copies', copies.length)
  if (fault !== null) return fault
  return accept({ listed: copies.filter((copy) => listCopy(draft, { ...copy, node })).length })
}

/** Returns whether this added the copy to the list. */
function listCopy(
  draft: Draft,
  { tenantId, chunkId, birth, node, permit }: CopyName & { readonly node: string; readonly permit: number },
): boolean {
  const before = draft.get(chunkKeys.chunk(tenantId, chunkId))
  if (before === undefined || before.birth !== birth || !before.owed.includes(node)) return false
  const task = draft.get(taskKey(before, node))
  if (task?.permit !== permit || !mayHold(draft, node)) return false
  const listed = { ...before, replicas: [...before.replicas, node], owed: without(before.owed, node) }
  changeChunk(draft, {
    before,
    after: isReplaced(listed, task) ? withoutCopy(listed, task.replaces) : listed,
  })
  return true
}

/** Whether the old copy may be removed, now that the new one is listed. */
function isReplaced(chunk: ChunkRecord, task: RepairRecord): task is RepairRecord & { replaces: string } {
  const { replaces, copiesKept } = task
  if (replaces === null) return false
  return without(chunk.replicas, replaces).length >= Math.max(copiesKept, 1)
}

function withoutCopy(chunk: ChunkRecord, node: string): ChunkRecord {
  return { ...chunk, replicas: without(chunk.replicas, node), owed: without(chunk.owed, node) }
}

/**
 * Strikes off copies that their holder found bad or absent, and owes the holder new ones. Idempotent. The last listed copy
 * stays listed, because the row is the only record of where the bytes may still be. With an operation id the copies start or
 * join the recovery of the node; without one they count only if a recovery is unfinished.
 */
export function dropReplicas(
  draft: Draft,
  command: Extract<ChunkCommand, { type: 'dropReplicas' }>,
  context: ApplyContext,
): Accepted<{ readonly dropped: number; readonly last: number }> | Refused {
  const { node, copies, operation: operationId } = command
  const fault = tooMany('drop replicas', copies.length) ?? takenId(draft, node, operationId)
  if (fault !== null) return fault
  if (!copies.some((copy) => listedChunk(draft, copy, node) !== undefined))
    return accept({ dropped: 0, last: 0 })
  const recovery =
    operationId === null
      ? rereplicationOf(draft, node)
      : openRereplication(draft, { node, operationId }, context)
  const operation = recovery?.operationId ?? null
  let [dropped, last, bytes] = [0, 0, 0]
  for (const copy of copies) {
    const before = listedChunk(draft, copy, node)
    if (before === undefined) continue
    const replicas = without(before.replicas, node)
    if (replicas.length === 0) {
      last++
      continue
    }
    const after = { ...before, replicas, owed: [...before.owed, node] }
    const granted = grantTasks(after, [node], context, { ...PLAIN_REPAIR, operation })
    changeChunk(draft, { before, after, granted })
    bytes += before.sealedSize
    dropped++
  }
  if (operation !== null) countLoss(draft, operation, { copies: dropped, bytes, last })
  return accept({ dropped, last })
}

/** The chunk row, if it lists exactly this copy. */
function listedChunk(view: View, copy: CopyName, node: string): ChunkRecord | undefined {
  const chunk = view.get(chunkKeys.chunk(copy.tenantId, copy.chunkId))
  return chunk?.birth === copy.birth && chunk.replicas.includes(node) ? chunk : undefined
}

/** Refuses an id that a recovery of this node cannot have. */
function takenId(view: View, node: string, operationId: string | null): Refused | null {
  if (operationId === null) return null
  if (!isKeyPart(operationId))
    return refuse('invalid_argument', 'Cannot start a recovery: its id is malformed')
  const taken = view.get(longOperationKeys.operation(operationId))
  const isOwn = taken?.kind === 'recovery' && taken.node === node && !isFinished(taken.status)
  if (taken === undefined || isOwn) return null
  return refuse(
    'precondition_failed',
    `Cannot start recovery "${operationId}": another operation has this id`,
  )
}

/** Grants tasks that move or add copies. Skips moves whose chunk has changed since they were planned. */
export function planCopies(
  draft: Draft,
  command: Extract<ChunkCommand, { type: 'planCopies' }>,
  context: ApplyContext,
): Accepted<{ readonly planned: number }> | Refused {
  const { operation, moves } = command
  const fault = tooMany('plan copies', moves.length)
  if (fault !== null) return fault
  const running = workable(draft, operation, 'plan copies')
  if (!running.ok) return running
  let planned = 0
  for (const move of moves) {
    const before = draft.get(chunkKeys.chunk(move.tenantId, move.chunkId))
    if (before === undefined || !isMovable(before, move) || !mayHold(draft, move.target)) continue
    const { target, replaces, copiesKept } = move
    const after = { ...before, owed: [...before.owed, target] }
    const granted = grantTasks(after, [target], context, { replaces, copiesKept, operation })
    changeChunk(draft, { before, after, granted })
    planned++
  }
  return accept({ planned })
}

function isMovable(chunk: ChunkRecord, { birth, target, replaces }: CopyMove): boolean {
  if (chunk.birth !== birth || chunk.references === 0) return false
  if (chunk.replicas.includes(target) || chunk.owed.includes(target)) return false
  return replaces === null || chunk.replicas.includes(replaces)
}

/** Ends tasks of a cancelled operation. A copy that was made already gets a drop row. Idempotent. */
export function endTasks(
  draft: Draft,
  command: Extract<ChunkCommand, { type: 'endTasks' }>,
): Accepted<{ readonly ended: number }> | Refused {
  const { operation, tasks } = command
  const fault = tooMany('end tasks', tasks.length)
  if (fault !== null) return fault
  let ended = 0
  for (const { tenantId, chunkId, birth, target } of tasks) {
    const before = draft.get(chunkKeys.chunk(tenantId, chunkId))
    if (before === undefined || before.birth !== birth || !before.owed.includes(target)) continue
    if (draft.get(taskKey(before, target))?.operation !== operation) continue
    changeChunk(draft, { before, after: { ...before, owed: without(before.owed, target) } })
    ended++
  }
  return accept({ ended })
}

/** The node has removed these copies durably. Idempotent; skips drop rows that were cancelled meanwhile. */
export function dropsDone(
  draft: Draft,
  command: Extract<ChunkCommand, { type: 'dropsDone' }>,
): Accepted<null> | Refused {
  const { node, names } = command
  const fault = tooMany('end drops', names.length)
  if (fault !== null) return fault
  for (const { id, birth } of names) {
    const key = chunkKeys.drop(node, birth, id)
    if (draft.get(key) !== undefined) draft.remove(key)
  }
  return accept(null)
}

function without(nodes: readonly string[], node: string): readonly string[] {
  return nodes.filter((other) => other !== node)
}
