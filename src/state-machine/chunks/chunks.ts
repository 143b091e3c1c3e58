/**
 * References to chunks.
 *
 * Owns: reference counts, condemnation, which birth of a chunk its row has.
 * Rules: a reference is counted per occurrence in a manifest; a chunk without references is condemned and may be revived
 * until it is collected (collection.ts); a row lists only copies of its own birth, and an upload never adds copies to a
 * row: it has a birth of its own, which replaces that of the row if the row has too few copies.
 */
import { chunkKeys } from './keys.ts'
import type { ApplyContext, View } from '../base/view.ts'
import { assert } from '../base/assert.ts'
import { changeChunk } from './chunk-rows.ts'
import type { ChunkId, TenantId } from '../base/record-ids.ts'
import type { ChunkUse, PutBody } from './commands.ts'
import type { ChunkLink, ChunkRecord } from './records.ts'
import { grantTasks } from './copies.ts'
import type { Draft } from '../base/draft.ts'
import { mayHold } from '../members/members.ts'
import { hasKeyOf, keyVersionMember, keyVersionOf } from '../tenants/data-keys.ts'
import { stateOfBirth } from './upload-sessions.ts'

/** All occurrences of one chunk in one manifest. */
interface Claim {
  /** A fresh upload if there is one: it may create the row. */
  use: ChunkUse
  occurrences: number
}

/**
 * Chunks that the body cannot use, each named once: the gateway found them earlier and they are gone, have another birth,
 * have fewer copies than an acknowledgement needs, or are sealed with a key that is destroyed. Copies may have been struck off since the gateway read the rows.
 */
export function unsafeChunks(view: View, tenantId: TenantId, body: PutBody): readonly ChunkId[] {
  if (body.kind !== 'chunks') return []
  const unsafe: ChunkId[] = []
  for (const { use } of gather(body.chunks)) {
    const present = view.get(chunkKeys.chunk(tenantId, use.id))
    if (!isSafe(view, { tenantId, present, use, copiesMin: body.copiesMin })) unsafe.push(use.id)
  }
  return unsafe
}

function isSafe(
  view: View,
  claim: {
    readonly tenantId: TenantId
    readonly present: ChunkRecord | undefined
    readonly use: ChunkUse
    readonly copiesMin: number
  },
): boolean {
  const { tenantId, present, use, copiesMin } = claim
  const isUsable = present !== undefined && hasCopies(view, present.replicas, copiesMin)
  if (use.existing) return isUsable && (present.birth === use.birth || present.resealedFrom === use.birth)
  if (!hasKeyOf(view, tenantId, use)) return false
  // A birth that already made a row is spent: no copy may be listed under it by a second upload.
  if (present?.birth === use.birth) return false
  return isUsable || hasCopies(view, use.replicas, copiesMin)
}

/** A copy on a lost or drained member does not count. */
export function hasCopies(view: View, holders: readonly string[], copiesMin: number): boolean {
  return holders.filter((node) => mayHold(view, node)).length >= copiesMin
}

/** Births of fresh uploads that may no longer commit, or not yet: their copies may be removed at any time. */
export function endedBirths(view: View, uses: readonly ChunkUse[]): readonly string[] {
  const fresh = uses.filter((use) => !use.existing).map(({ birth }) => birth)
  return [...new Set(fresh)].filter((birth) => stateOfBirth(view, birth) !== 'open')
}

/** Counts the references of a new body; creates rows for uploaded chunks and revives condemned ones. */
export function claimChunks(
  draft: Draft,
  { tenantId, body }: { readonly tenantId: TenantId; readonly body: PutBody },
  context: ApplyContext,
): void {
  if (body.kind !== 'chunks') return
  for (const { use, occurrences } of gather(body.chunks)) {
    const present = draft.get(chunkKeys.chunk(tenantId, use.id))
    const references = (present?.references ?? 0) + occurrences
    // A concurrent upload of the same content may have committed first: then its row stays, and the copies of this upload
    // have another birth that no row names.
    if (present !== undefined && (use.existing || hasCopies(draft, present.replicas, body.copiesMin))) {
      changeChunk(draft, { before: present, after: { ...present, references, condemnedAt: null } })
      continue
    }
    const made = { ...newChunk(draft, tenantId, use), references }
    assert(present === undefined || present.size === made.size, 'equal chunks have equal sizes')
    const granted = grantTasks(made, made.owed, context)
    changeChunk(draft, { before: present ?? null, after: made, granted })
  }
}

/** Counts references for a second manifest that names the chunks of a present one. */
export function claimAgain(draft: Draft, tenantId: TenantId, links: readonly ChunkLink[]): void {
  for (const [id, count] of occurrencesOf(links)) {
    const before = draft.get(chunkKeys.chunk(tenantId, id))
    assert(before !== undefined && before.references > 0, 'a chunk that a manifest names is referenced')
    changeChunk(draft, { before, after: { ...before, references: before.references + count } })
  }
}

export function releaseChunks(
  draft: Draft,
  tenantId: TenantId,
  links: readonly ChunkLink[],
  context: ApplyContext,
): void {
  for (const [id, count] of occurrencesOf(links)) {
    const before = draft.get(chunkKeys.chunk(tenantId, id))
    assert(before !== undefined, 'a chunk that a manifest names has a row')
    assert(before.references >= count, 'every occurrence in a manifest was counted')
    const references = before.references - count
    const condemnedAt = references === 0 ? context.index : null
    changeChunk(draft, { before, after: { ...before, references, condemnedAt } })
  }
}

function occurrencesOf(links: readonly ChunkLink[]): ReadonlyMap<ChunkId, number> {
  const occurrences = new Map<ChunkId, number>()
  for (const { id } of links) occurrences.set(id, (occurrences.get(id) ?? 0) + 1)
  return occurrences
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

/** Leaves out nodes that may not hold copies: a copy there may be gone before it is read. */
function newChunk(view: View, tenantId: TenantId, use: ChunkUse): ChunkRecord {
  assert(!use.existing, 'unsafeChunks has refused existing chunks that are gone')
  const { id, birth, size, sealedSize, checksum } = use
  const replicas = [...new Set(use.replicas)].filter((node) => mayHold(view, node))
  const missing = [...new Set(use.missing)].filter((node) => mayHold(view, node))
  const owed = missing.filter((node) => !replicas.includes(node))
  const about = { id, tenantId, birth, size, sealedSize, checksum, ...keyVersionMember(keyVersionOf(use)) }
  return { ...about, replicas, owed, references: 0, condemnedAt: null }
}
