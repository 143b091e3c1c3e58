/**
 * What became of the changes of a bucket that were sent to its other site.
 *
 * Owns: when a change leaves the queue, is tried again or is given up. Knows nothing of: sockets.
 * Rules: a row leaves the queue only in the entry that records the reason; a result counts once, however often it is reported.
 */
import { tooMany } from '../base/batch-bound.ts'
import type { Draft } from '../base/draft.ts'
import { type Accepted, accept, type Refused } from '../base/reply.ts'
import type { ApplyContext } from '../base/view.ts'
import type { SendResult, SiteCommand, SiteReplies } from './commands.ts'
import { siteKeys } from './keys.ts'
import type { SiteChangeRecord, SiteStateRecord } from './records.ts'
import { pauseAfter, sendDelay } from './sending-schedule.ts'
import { changeState, forgotten, givenUp, waitingAgain, withoutPending } from './site-state.ts'
import { siteFor } from './sites.ts'

const ERROR_CHARACTERS_MAX = 300

export function recordSends(
  draft: Draft,
  { results }: Extract<SiteCommand, { type: 'recordSends' }>,
  context: ApplyContext,
): Accepted<SiteReplies['recordSends']> | Refused {
  const fault = tooMany('record sends', results.length)
  if (fault !== null) return fault
  let recorded = 0
  for (const result of results) {
    const { bucketId, changeId, attempts } = result
    const state = draft.get(siteKeys.siteState(bucketId))
    const change = draft.get(siteKeys.siteChange(bucketId, changeId))
    if (state === undefined || state.isRemoved || change?.attempts !== attempts) continue
    changeState(draft, after(draft, { state, change, result }, context))
    recorded++
  }
  return accept({ recorded })
}

interface Attempted {
  readonly state: SiteStateRecord
  readonly change: SiteChangeRecord
  readonly result: SendResult
}

function after(draft: Draft, { state, change, result }: Attempted, { time }: ApplyContext): SiteStateRecord {
  const lastError = result.error?.slice(0, ERROR_CHARACTERS_MAX) ?? null
  const answered = { ...state, failures: 0, failingSince: null, notBefore: 0, lastError }
  switch (result.verdict) {
    case 'unreachable':
      return paused(state, { result, lastError, time })
    case 'sent': {
      const { sent, sentBytes } = state
      const counts = { sent: sent + 1, sentBytes: sentBytes + change.bytes, lastSentAt: time }
      return withoutPending(draft, { ...answered, ...counts }, change)
    }
    case 'skipped':
      return withoutPending(draft, { ...answered, skipped: state.skipped + 1 }, change)
    case 'conflict':
      return withoutPending(draft, { ...answered, conflicts: state.conflicts + 1 }, change)
    case 'refused':
      return givenUp(draft, answered, { ...change, attempts: change.attempts + 1, lastError })
    case 'failed': {
      const tried = { ...change, attempts: change.attempts + 1, lastError }
      const delay = sendDelay(tried.attempts, result)
      if (delay === null) return givenUp(draft, answered, tried)
      draft.put(siteKeys.siteChange(state.bucketId, change.changeId), { ...tried, dueAt: time + delay })
      return answered
    }
  }
}

/** Attempts that were under way together count as one. */
function paused(
  state: SiteStateRecord,
  {
    result,
    lastError,
    time,
  }: { readonly result: SendResult; readonly lastError: string | null; readonly time: number },
): SiteStateRecord {
  const failingSince = state.failingSince ?? time
  if (time < state.notBefore) return { ...state, lastError }
  const failures = state.failures + 1
  return { ...state, failures, failingSince, lastError, notBefore: time + pauseAfter(failures, result) }
}

export function retrySiteChanges(
  draft: Draft,
  command: Extract<SiteCommand, { type: 'retrySiteChanges' }>,
  { time }: ApplyContext,
): Accepted<SiteReplies['retrySiteChanges']> | Refused {
  const fault = tooMany('repeat changes', command.changeIds.length)
  if (fault !== null) return fault
  const found = siteFor(draft, command)
  if (!found.ok) return found
  let { state } = found.value
  let retried = 0
  for (const changeId of command.changeIds) {
    const change = draft.get(siteKeys.failedSiteChange(state.bucketId, changeId))
    if (change === undefined) continue
    state = waitingAgain(draft, state, { ...change, attempts: 0, dueAt: time })
    retried++
  }
  if (retried > 0) changeState(draft, { ...state, notBefore: 0 })
  return accept({ retried })
}

/** Idempotent. Keeps what waits for a target that is set. */
export function forgetSiteChanges(
  draft: Draft,
  { bucketId, changeIds }: Extract<SiteCommand, { type: 'forgetSiteChanges' }>,
): Accepted<SiteReplies['forgetSiteChanges']> | Refused {
  const fault = tooMany('forget changes', changeIds.length)
  if (fault !== null) return fault
  let state = draft.get(siteKeys.siteState(bucketId))
  if (state?.isRemoved !== true) return accept({ forgotten: 0 })
  let count = 0
  for (const changeId of changeIds) {
    const rest: SiteStateRecord | null = forgotten(draft, state, changeId)
    if (rest === null) continue
    state = rest
    count++
  }
  if (count > 0) changeState(draft, state)
  return accept({ forgotten: count })
}
