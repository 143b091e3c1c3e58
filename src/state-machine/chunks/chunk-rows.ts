/**
 * A chunk's row together with every row that follows from it.
 *
 * Owns: the making index, the condemned queue, the keys and the number of repair rows, drop rows, usage of chunks, the count of those that
 * are sealed with the present key of their tenant.
 * Knows nothing of: why a chunk changes.
 * Rules: only this file writes chunk rows. A node that is no longer listed or owed gets a drop row; a node that becomes listed
 * or owed again loses it. So a copy is never both needed and permitted to be removed.
 */
import { chunkKeys } from './keys.ts'
import type { RowKey } from '../base/row-key.ts'
import { assert } from '../base/assert.ts'
import type { Draft } from '../base/draft.ts'
import { countTasks } from '../long-operations/operations.ts'
import type { ChunkRecord, RepairRecord } from './records.ts'
import { countSealed, CUSTOMER_KEY_VERSION, keyVersionOf } from '../tenants/data-keys.ts'
import type { UsageRecord } from '../usage/records.ts'
import { countTenant } from '../usage/usage.ts'

export interface ChunkChange {
  /** Null: the row did not exist. */
  readonly before: ChunkRecord | null
  /** Null: the row is removed. */
  readonly after: ChunkRecord | null
  /** One task for each node in `after.owed` that is not in `before.owed`. */
  readonly granted?: readonly RepairRecord[]
}

export function changeChunk(draft: Draft, { before, after, granted = [] }: ChunkChange): void {
  const chunk = after ?? before
  assert(chunk !== null, 'a change has a chunk')
  if (after === null) draft.remove(chunkKeys.chunk(chunk.tenantId, chunk.id))
  else draft.put(chunkKeys.chunk(chunk.tenantId, chunk.id), after)
  indexMaking(draft, before, after)
  queueCondemned(draft, before, after)
  moveTasks(draft, { before, after, granted })
  moveDrops(draft, before, after)
  countTenant(draft, chunk.tenantId, difference(before, after))
  moveSealed(draft, before, after)
}

export function taskKey(chunk: ChunkRecord, target: string): RowKey<RepairRecord> {
  return chunkKeys.repair({ target, copies: chunk.replicas.length, birth: chunk.birth, id: chunk.id })
}

function indexMaking(draft: Draft, before: ChunkRecord | null, after: ChunkRecord | null): void {
  if (before?.birth === after?.birth) return
  if (before !== null) draft.remove(chunkKeys.making(before.birth, before.id))
  if (after !== null) draft.put(chunkKeys.making(after.birth, after.id), { tenantId: after.tenantId })
}

function queueCondemned(draft: Draft, before: ChunkRecord | null, after: ChunkRecord | null): void {
  if (before !== null && before.condemnedAt !== null)
    draft.remove(chunkKeys.condemned(before.condemnedAt, before.tenantId, before.id))
  if (after === null || after.condemnedAt === null) return
  const { tenantId, id: chunkId, birth, condemnedAt } = after
  draft.put(chunkKeys.condemned(condemnedAt, tenantId, chunkId), { tenantId, chunkId, birth, condemnedAt })
}

/** Rewrites tasks that stay, since their key contains the number of copies; ends tasks of another birth or of nodes no longer owed. */
function moveTasks(draft: Draft, { before, after, granted = [] }: ChunkChange): void {
  const tasks = new Map(granted.map((task) => [task.target, task]))
  for (const target of before?.owed ?? []) {
    const key = taskKey(before as ChunkRecord, target)
    const task = draft.get(key)
    assert(task !== undefined, 'every owed copy has a task')
    draft.remove(key)
    const isDone = before?.birth === after?.birth && after?.replicas.includes(target) === true
    if (before?.birth === after?.birth && after?.owed.includes(target) === true) tasks.set(target, task)
    else countEnd(draft, task, isDone ? before : null)
  }
  for (const { operation } of granted) countTasks(draft, operation, { tasksOpen: 1 })
  for (const target of after?.owed ?? []) {
    const task = tasks.get(target)
    assert(task !== undefined && task.birth === after?.birth, 'the task of an owed copy has its birth')
    assert(!after.replicas.includes(target), 'a listed copy is not owed')
    draft.put(taskKey(after, target), task)
  }
  const change = (after?.owed.length ?? 0) - (before?.owed.length ?? 0)
  if (change === 0) return
  const count = (draft.get(chunkKeys.repairTotal())?.count ?? 0) + change
  assert(count >= 0, 'no more repair tasks end than were granted')
  draft.put(chunkKeys.repairTotal(), { count })
}

function countEnd(draft: Draft, { operation }: RepairRecord, made: ChunkRecord | null): void {
  const result = made === null ? { skipped: 1 } : { blobsDone: 1, bytesMoved: made.sealedSize }
  countTasks(draft, operation, { tasksOpen: -1, ...result })
}

function moveDrops(draft: Draft, before: ChunkRecord | null, after: ChunkRecord | null): void {
  const needed = after === null ? [] : [...after.replicas, ...after.owed]
  const isSameMaking = before?.birth === after?.birth
  for (const node of before === null ? [] : [...before.replicas, ...before.owed]) {
    if (before === null || (isSameMaking && needed.includes(node))) continue
    const { id, birth } = before
    draft.put(chunkKeys.drop(node, birth, id), { node, id, birth })
  }
  if (after === null) return
  for (const node of needed) {
    const isNew = !isSameMaking || !(before?.replicas.includes(node) || before?.owed.includes(node))
    const key = chunkKeys.drop(node, after.birth, after.id)
    if (isNew && draft.get(key) !== undefined) draft.remove(key)
  }
}

function difference(before: ChunkRecord | null, after: ChunkRecord | null): Partial<UsageRecord> {
  const change: { -readonly [Figure in keyof UsageRecord]?: number } = { ...figuresOf(after) }
  const old = figuresOf(before)
  for (const figure of Object.keys(old) as (keyof UsageRecord)[])
    change[figure] = (change[figure] ?? 0) - (old[figure] ?? 0)
  return change
}

function moveSealed(draft: Draft, before: ChunkRecord | null, after: ChunkRecord | null): void {
  const isSame = before?.birth === after?.birth && before?.keyVersion === after?.keyVersion
  if (isSame) return
  for (const [chunk, chunks] of [
    [before, -1],
    [after, 1],
  ] as const)
    if (chunk !== null) countSealed(draft, chunk.tenantId, sealedFigures(chunk, chunks))
}

function sealedFigures({ keyVersion, sealedSize }: ChunkRecord, chunks: 1 | -1) {
  const figures = { chunks, storedBytes: chunks * sealedSize }
  return keyVersion === undefined ? figures : { ...figures, keyVersion }
}

/** The share of one chunk in the usage of its tenant. */
export function figuresOf(chunk: ChunkRecord | null): Partial<UsageRecord> {
  if (chunk === null) return {}
  const { size, sealedSize, replicas, references } = chunk
  const isOfCustomer = keyVersionOf(chunk) === CUSTOMER_KEY_VERSION
  return {
    chunkCount: 1,
    chunkBytes: size,
    storedBytes: sealedSize,
    copyBytes: sealedSize * replicas.length,
    dedupSavedBytes: size * Math.max(0, references - 1),
    compressionSavedBytes: Math.max(0, size - sealedSize),
    ...(isOfCustomer ? { customerChunks: 1, customerBytes: sealedSize } : {}),
  }
}
