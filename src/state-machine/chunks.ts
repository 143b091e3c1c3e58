/**
 * Chunks: who needs them, and who holds a copy.
 *
 * Owns: reference counts, condemnation, the list of replicas, and the rows that say which copy is still owed.
 * Rules: a reference is counted per occurrence in a manifest; a chunk without references is condemned and keeps its
 * row; what is said about one birth never touches another; the last known copy is never struck off.
 */
import { assert } from './assert.ts'
import type { ChunkUse, Command, PutCommand } from './commands.ts'
import type { Draft } from './draft.ts'
import { keys } from './keys.ts'
import type { ChunkId, ChunkLink, ChunkRecord, RepairRecord, TenantId } from './records.ts'
import { type Accepted, accept, type Refused, refuse } from './reply.ts'
import type { ApplyContext, View } from './view.ts'

/** All occurrences of one chunk in one manifest. */
interface Claim {
  /** A fresh upload, if there is one among them: it may create the row. */
  use: ChunkUse
  occurrences: number
}

/**
 * Chunks that the body cannot count on, each named once: found earlier by the gateway and not there any more, another
 * making, or listed with fewer copies than an acknowledgement needs. Copies may have been struck off since the look.
 */
export function unsafeChunks(view: View, command: PutCommand): readonly ChunkId[] {
  const { tenantId, body } = command
  if (body.kind !== 'chunks') return []
  const unsafe: ChunkId[] = []
  for (const { use } of gather(body.chunks)) {
    const present = view.get(keys.chunk(tenantId, use.id))
    const isGone = use.existing && present?.birth !== use.birth
    if (isGone || holdersOf(present, use).length < body.copiesMin) unsafe.push(use.id)
  }
  return unsafe
}

/** Who holds a copy once this use is counted: what was uploaded under another birth than the row's is spare. */
function holdersOf(present: ChunkRecord | undefined, use: ChunkUse): readonly string[] {
  if (present !== undefined && present.birth !== use.birth) return present.replicas
  return [...new Set([...(present?.replicas ?? []), ...use.replicas])]
}

/** Counts the references of a new body; creates rows for what was uploaded and revives what was condemned. */
export function claimChunks(
  draft: Draft,
  tenantId: TenantId,
  uses: readonly ChunkUse[],
  context: ApplyContext,
): void {
  for (const { use, occurrences } of gather(uses)) {
    // A concurrent upload of the same content may have committed first: its row stands, ours are spare copies of
    // another birth that no row names.
    const present = draft.get(keys.chunk(tenantId, use.id)) ?? newChunk(tenantId, use)
    const references = present.references + occurrences
    const chunk = { ...present, references, replicas: holdersOf(present, use), condemnedAt: null }
    draft.put(keys.chunk(tenantId, use.id), chunk)
    if (use.birth !== present.birth) continue
    for (const node of use.replicas) endRepair(draft, chunk, node)
    oweCopies(draft, chunk, use.missing, context)
  }
}

export function releaseChunks(
  draft: Draft,
  tenantId: TenantId,
  links: readonly ChunkLink[],
  context: ApplyContext,
): void {
  const occurrences = new Map<ChunkId, number>()
  for (const { id } of links) occurrences.set(id, (occurrences.get(id) ?? 0) + 1)
  for (const [id, count] of occurrences) {
    const chunk = draft.get(keys.chunk(tenantId, id))
    assert(chunk !== undefined, 'a chunk that a manifest names has a row')
    assert(chunk.references >= count, 'every occurrence in a manifest was counted')
    const references = chunk.references - count
    const condemnedAt = references === 0 ? context.index : null
    draft.put(keys.chunk(tenantId, id), { ...chunk, references, condemnedAt })
  }
}

/** Idempotent. What a node reports about a birth that is no longer the chunk's only ends the task. */
export function addReplica(draft: Draft, command: Extract<Command, { type: 'addReplica' }>): Accepted<null> {
  const { tenantId, chunkId, birth, node } = command
  const chunk = draft.get(keys.chunk(tenantId, chunkId))
  if (chunk !== undefined && chunk.birth === birth && !chunk.replicas.includes(node)) {
    draft.put(keys.chunk(tenantId, chunkId), { ...chunk, replicas: [...chunk.replicas, node] })
  }
  endRepair(draft, { id: chunkId, birth }, node)
  return accept(null)
}

function endRepair(draft: Draft, chunk: Pick<ChunkRecord, 'id' | 'birth'>, node: string): void {
  const repair = keys.repair(node, chunk.birth, chunk.id)
  if (draft.get(repair) === undefined) return
  draft.remove(repair)
  countRepairs(draft, -1)
}

/**
 * Idempotent: a copy that is not listed cannot be struck off twice. The last listed copy stays listed, for the row is
 * the only record of where the bytes may still be.
 */
export function dropReplica(
  draft: Draft,
  command: Extract<Command, { type: 'dropReplica' }>,
  context: ApplyContext,
): Accepted<null> | Refused {
  const { tenantId, chunkId, birth, node } = command
  const chunk = draft.get(keys.chunk(tenantId, chunkId))
  if (chunk === undefined || chunk.birth !== birth || !chunk.replicas.includes(node)) return accept(null)
  const replicas = chunk.replicas.filter((holder) => holder !== node)
  if (replicas.length === 0) {
    return refuse('precondition_failed', `Cannot drop replica: "${node}" is the last holder of "${chunkId}"`)
  }
  const dropped = { ...chunk, replicas }
  draft.put(keys.chunk(tenantId, chunkId), dropped)
  oweCopies(draft, dropped, [node], context)
  return accept(null)
}

function gather(uses: readonly ChunkUse[]): Iterable<Claim> {
  const claims = new Map<ChunkId, Claim>()
  for (const use of uses) {
    const claim = claims.get(use.id)
    if (claim === undefined) {
      claims.set(use.id, { use, occurrences: 1 })
      continue
    }
    claim.occurrences++
    if (claim.use.existing && !use.existing) claim.use = use
  }
  return claims.values()
}

function newChunk(tenantId: TenantId, use: ChunkUse): ChunkRecord {
  assert(!use.existing, 'unsafeChunks has named what should exist and does not')
  const { id, birth, size, sealedSize, checksum } = use
  return { id, tenantId, birth, size, sealedSize, checksum, replicas: [], references: 0, condemnedAt: null }
}

/** One row per node that should hold a copy and does not. */
function oweCopies(
  draft: Draft,
  chunk: ChunkRecord,
  targets: readonly string[],
  context: ApplyContext,
): void {
  for (const target of targets) {
    const key = keys.repair(target, chunk.birth, chunk.id)
    if (chunk.replicas.includes(target) || draft.get(key) !== undefined) continue
    const { tenantId, id: chunkId, birth } = chunk
    const repair: RepairRecord = { tenantId, chunkId, birth, target, since: context.time }
    draft.put(key, repair)
    countRepairs(draft, 1)
  }
}

function countRepairs(draft: Draft, change: number): void {
  const count = (draft.get(keys.repairTotal())?.count ?? 0) + change
  assert(count >= 0, 'no more repairs end than began')
  draft.put(keys.repairTotal(), { count })
}
