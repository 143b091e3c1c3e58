/**
 * Chunks: who needs them.
 *
 * Owns: reference counts, condemnation, which making of a chunk stands.
 * Rules: a reference is counted per occurrence in a manifest; a chunk without references is condemned and may be revived
 * until it is collected (collection.ts); a row never lists a copy of another birth than its own, and no upload adds
 * copies to a row: it makes a chunk anew, and takes the row over when that one has too few copies.
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
import { stateOfBirth } from './sessions.ts'

/** All occurrences of one chunk in one manifest. */
interface Claim {
  /** A fresh upload, if there is one among them: it may create the row. */
  use: ChunkUse
  occurrences: number
}

/**
 * Chunks that the body cannot count on, each named once: found earlier by the gateway and not there any more, another
 * making, or with fewer copies than an acknowledgement needs. Copies may have been struck off since the look.
 */
export function unsafeChunks(view: View, tenantId: TenantId, body: PutBody): readonly ChunkId[] {
  if (body.kind !== 'chunks') return []
  const unsafe: ChunkId[] = []
  for (const { use } of gather(body.chunks)) {
    const present = view.get(chunkKeys.chunk(tenantId, use.id))
    if (!isSafe(view, { present, use, copiesMin: body.copiesMin })) unsafe.push(use.id)
  }
  return unsafe
}

function isSafe(
  view: View,
  claim: {
    readonly present: ChunkRecord | undefined
    readonly use: ChunkUse
    readonly copiesMin: number
  },
): boolean {
  const { present, use, copiesMin } = claim
  const stands = present !== undefined && hasCopies(view, present.replicas, copiesMin)
  if (use.existing) return stands && present.birth === use.birth
  // A birth that made a row already is spent: nothing may be listed under it a second time.
  if (present?.birth === use.birth) return false
  return stands || hasCopies(view, use.replicas, copiesMin)
}

/** A copy on a member that is lost, or was emptied, stands for nothing. */
function hasCopies(view: View, holders: readonly string[], copiesMin: number): boolean {
  return holders.filter((node) => mayHold(view, node)).length >= copiesMin
}

/** Fresh uploads that may not commit any more, or not yet: their copies may be removed at any time. */
export function endedBirths(view: View, uses: readonly ChunkUse[]): readonly string[] {
  const fresh = uses.filter((use) => !use.existing).map(({ birth }) => birth)
  return [...new Set(fresh)].filter((birth) => stateOfBirth(view, birth) !== 'open')
}

/** Counts the references of a new body; creates rows for what was uploaded and revives what was condemned. */
export function claimChunks(
  draft: Draft,
  { tenantId, body }: { readonly tenantId: TenantId; readonly body: PutBody },
  context: ApplyContext,
): void {
  if (body.kind !== 'chunks') return
  for (const { use, occurrences } of gather(body.chunks)) {
    const present = draft.get(chunkKeys.chunk(tenantId, use.id))
    const references = (present?.references ?? 0) + occurrences
    // A concurrent upload of the same content may have committed first: its row stands, and ours are spare copies of
    // another birth that no row names.
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

/** For another manifest that names the same chunks as one that stands. */
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

/** Without the members that leave: a copy there may be gone before anybody looks for it. */
function newChunk(view: View, tenantId: TenantId, use: ChunkUse): ChunkRecord {
  assert(!use.existing, 'unsafeChunks has named what should exist and does not')
  const { id, birth, size, sealedSize, checksum } = use
  const replicas = [...new Set(use.replicas)].filter((node) => mayHold(view, node))
  const missing = [...new Set(use.missing)].filter((node) => mayHold(view, node))
  const owed = missing.filter((node) => !replicas.includes(node))
  const about = { id, tenantId, birth, size, sealedSize, checksum }
  return { ...about, replicas, owed, references: 0, condemnedAt: null }
}
