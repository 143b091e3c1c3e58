/**
 * Collection: removes the rows of chunks without references; drop rows order their holders to remove the copies.
 *
 * Owns: collectChunks and its halt. Knows nothing of: the proposers; any node may propose it any number of times.
 * Rule: a chunk is collected only while it is condemned at exactly the index that the proposer saw: a chunk that was
 * revived stays, even if it was condemned again since. A chunk that a backup may need stays until that has ended.
 */
import { chunkKeys } from './keys.ts'
import type { ApplyContext, View } from '../base/view.ts'
import type { ChunkCommand } from './commands.ts'
import { changeChunk } from './chunk-rows.ts'
import { tooMany } from '../base/batch-bound.ts'
import type { SettingsRecord } from './records.ts'
import type { Draft } from '../base/draft.ts'
import { heldAfter } from '../long-operations/backups.ts'
import { unfinishedOperations } from '../long-operations/operations.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'

const DEFAULT_SETTINGS: SettingsRecord = {
  collectionHalted: null,
  repairBytesPerSecond: null,
  lastRecount: null,
  collectionResumed: null,
}

export function collectChunks(
  draft: Draft,
  command: Extract<ChunkCommand, { type: 'collectChunks' }>,
  context: ApplyContext,
): Accepted<{ readonly collected: number }> | Refused {
  const fault = tooMany('collect chunks', command.chunks.length)
  if (fault !== null) return fault
  const halted = settingsOf(draft).collectionHalted
  if (halted !== null) {
    return refuse('precondition_failed', `Cannot collect chunks: collection is halted (${halted.reason})`)
  }
  const keptAfter = heldAfter(unfinishedOperations(draft), context.confirmedTime)
  let collected = 0
  for (const { tenantId, chunkId, birth, condemnedAt } of command.chunks) {
    const before = draft.get(chunkKeys.chunk(tenantId, chunkId))
    const isStill = before?.birth === birth && before.condemnedAt === condemnedAt
    if (before === undefined || !isStill || before.references > 0) continue
    if (condemnedAt > keptAfter) continue
    changeChunk(draft, { before, after: null })
    collected++
  }
  return accept({ collected })
}

/** Keeps the first reason, because that is the one to investigate. */
export function haltCollection(
  draft: Draft,
  command: { readonly reason: string },
  context: ApplyContext,
): Accepted<null> {
  const present = settingsOf(draft)
  if (present.collectionHalted === null) {
    const collectionHalted = { reason: command.reason, since: context.time }
    draft.put(chunkKeys.settings(), { ...present, collectionHalted })
  }
  return accept(null)
}

/** Changes nothing while the collection is not halted. */
export function resumeCollection(
  draft: Draft,
  command: Extract<ChunkCommand, { type: 'resumeCollection' }>,
  context: ApplyContext,
): Accepted<null> {
  const present = settingsOf(draft)
  if (present.collectionHalted !== null) {
    const collectionResumed = {
      requestedBy: command.requestedBy,
      reason: command.reason,
      at: context.time,
    }
    draft.put(chunkKeys.settings(), { ...present, collectionHalted: null, collectionResumed })
  }
  return accept(null)
}

export function setRepairRate(
  draft: Draft,
  command: Extract<ChunkCommand, { type: 'setRepairRate' }>,
): Accepted<null> | Refused {
  const { bytesPerSecond } = command
  if (bytesPerSecond !== null && !(Number.isSafeInteger(bytesPerSecond) && bytesPerSecond > 0)) {
    return refuse(
      'invalid_argument',
      `Cannot set repair rate: ${bytesPerSecond} is not a rate; give 1 or more, or null`,
    )
  }
  draft.put(chunkKeys.settings(), { ...settingsOf(draft), repairBytesPerSecond: bytesPerSecond })
  return accept(null)
}

export function settingsOf(view: View): SettingsRecord {
  return { ...DEFAULT_SETTINGS, ...view.get(chunkKeys.settings()) }
}
