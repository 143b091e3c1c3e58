/**
 * The state row of a replicated bucket and what follows from it: the index of busy buckets and the rows of changes.
 *
 * Owns: that counts change together with the rows that they count. Rule: only this file writes the state rows and the rows of changes.
 */
import { assert } from '../base/assert.ts'
import type { Draft } from '../base/draft.ts'
import type { ApplyContext } from '../base/view.ts'
import type { BucketRecord } from '../buckets/records.ts'
import { siteKeys } from './keys.ts'
import { type SiteChangeRecord, SITE_CHANGES_MAX, type SiteStateRecord } from './records.ts'

export function newState({ tenantId, id: bucketId, name: bucket }: BucketRecord): SiteStateRecord {
  return {
    tenantId,
    bucketId,
    bucket,
    isRemoved: false,
    pending: 0,
    pendingBytes: 0,
    failed: 0,
    sent: 0,
    sentBytes: 0,
    skipped: 0,
    conflicts: 0,
    notReplicable: 0,
    dropped: 0,
    failures: 0,
    failingSince: null,
    notBefore: 0,
    lastError: null,
    lastSentAt: null,
    resync: null,
  }
}

/** Changes that were dropped before it are found by it. */
export function resyncing(
  state: SiteStateRecord,
  { index, time }: Pick<ApplyContext, 'index' | 'time'>,
): SiteStateRecord {
  const resync = { id: index, startedAt: time, place: '', queued: 0, notReplicable: 0, endedAt: null }
  return { ...state, dropped: 0, resync }
}

/** Whether the bucket has an index row. */
export function isBusySite({ isRemoved, pending, failed, resync, dropped }: SiteStateRecord): boolean {
  if (isRemoved) return pending + failed > 0
  return pending > 0 || dropped > 0 || (resync !== null && resync.endedAt === null)
}

/** A removed one goes with its last row. */
export function changeState(draft: Draft, after: SiteStateRecord): void {
  const { bucketId, isRemoved, pending, pendingBytes, failed } = after
  assert(pending >= 0 && pendingBytes >= 0 && failed >= 0, 'counts of changes are never negative')
  const before = draft.get(siteKeys.siteState(bucketId))
  const isOver = isRemoved && pending + failed === 0
  if (isOver) draft.remove(siteKeys.siteState(bucketId))
  else draft.put(siteKeys.siteState(bucketId), after)
  const wasBusy = before !== undefined && isBusySite(before)
  const isBusy = isBusySite(after)
  if (isBusy && !wasBusy) draft.put(siteKeys.busySite(bucketId), { bucketId })
  if (wasBusy && !isBusy) draft.remove(siteKeys.busySite(bucketId))
}

/** False: there are too many rows, and the change was counted as dropped. */
export function addChange(draft: Draft, state: SiteStateRecord, change: SiteChangeRecord): boolean {
  const { bucketId, pending, pendingBytes, failed, dropped } = state
  if (pending + failed >= SITE_CHANGES_MAX) {
    changeState(draft, { ...state, dropped: dropped + 1 })
    return false
  }
  draft.put(siteKeys.siteChange(bucketId, change.changeId), change)
  changeState(draft, { ...state, pending: pending + 1, pendingBytes: pendingBytes + change.bytes })
  return true
}

/** The state without a change that waited; the caller writes it. */
export function withoutPending(
  draft: Draft,
  state: SiteStateRecord,
  { changeId, bytes }: SiteChangeRecord,
): SiteStateRecord {
  draft.remove(siteKeys.siteChange(state.bucketId, changeId))
  return { ...state, pending: state.pending - 1, pendingBytes: state.pendingBytes - bytes }
}

/** The state with a change that is given up instead of waiting; the caller writes it. */
export function givenUp(draft: Draft, state: SiteStateRecord, change: SiteChangeRecord): SiteStateRecord {
  draft.put(siteKeys.failedSiteChange(state.bucketId, change.changeId), change)
  const rest = withoutPending(draft, state, change)
  return { ...rest, failed: rest.failed + 1 }
}

/** The reverse of `givenUp`. */
export function waitingAgain(
  draft: Draft,
  state: SiteStateRecord,
  change: SiteChangeRecord,
): SiteStateRecord {
  draft.remove(siteKeys.failedSiteChange(state.bucketId, change.changeId))
  draft.put(siteKeys.siteChange(state.bucketId, change.changeId), change)
  const { pending, pendingBytes, failed } = state
  return { ...state, pending: pending + 1, pendingBytes: pendingBytes + change.bytes, failed: failed - 1 }
}

/** Removes the row, whether it waits or was given up; the caller writes the state. Null: there is none. */
export function forgotten(draft: Draft, state: SiteStateRecord, changeId: string): SiteStateRecord | null {
  const pending = draft.get(siteKeys.siteChange(state.bucketId, changeId))
  if (pending !== undefined) return withoutPending(draft, state, pending)
  const failedKey = siteKeys.failedSiteChange(state.bucketId, changeId)
  if (draft.get(failedKey) === undefined) return null
  draft.remove(failedKey)
  return { ...state, failed: state.failed - 1 }
}
