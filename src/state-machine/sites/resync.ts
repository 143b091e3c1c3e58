/**
 * Queues what a bucket holds already, page by page.
 *
 * Owns: the place of the walk. Knows nothing of: how versions are found. Rule: each version is judged again by the rules at this index, and a
 * page counts once.
 */
import { ITEMS_PER_COMMAND_MAX, tooMany } from '../base/batch-bound.ts'
import type { Draft } from '../base/draft.ts'
import { type Accepted, accept, type Refused } from '../base/reply.ts'
import { versionIdAt } from '../base/version-id.ts'
import type { ApplyContext } from '../base/view.ts'
import { versionAt } from '../versions/versions.ts'
import type { SiteCommand, SiteReplies } from './commands.ts'
import { siteKeys } from './keys.ts'
import { isNamed, isReadable } from './queueing.ts'
import type { SiteStateRecord } from './records.ts'
import { addChange, changeState, resyncing } from './site-state.ts'
import { siteFor } from './sites.ts'

export function startResync(
  draft: Draft,
  command: Extract<SiteCommand, { type: 'startResync' }>,
  context: ApplyContext,
): Accepted<SiteStateRecord> | Refused {
  const found = siteFor(draft, command)
  if (!found.ok) return found
  const state = resyncing(found.value.state, context)
  changeState(draft, state)
  return accept(state)
}

export function queueExisting(
  draft: Draft,
  command: Extract<SiteCommand, { type: 'queueExisting' }>,
  context: ApplyContext,
): Accepted<SiteReplies['queueExisting']> | Refused {
  const { bucketId, resyncId, place, next, items } = command
  const fault = items.length > ITEMS_PER_COMMAND_MAX ? tooMany('queue versions', items.length) : null
  if (fault !== null) return fault
  const site = draft.get(siteKeys.site(bucketId))
  const before = draft.get(siteKeys.siteState(bucketId))
  const resync = before?.resync ?? null
  const isThisPage = resync?.id === resyncId && resync.place === place && resync.endedAt === null
  if (site === undefined || before === undefined || !isThisPage) return accept({ queued: 0 })
  let [queued, notReplicable] = [0, resync.notReplicable]
  for (const [n, { key, versionId }] of items.entries()) {
    const version = versionAt(draft, bucketId, key, versionId)
    if (version?.kind !== 'object' || !isNamed(site.rules, { kind: 'put', version })) continue
    if (!isReadable(version)) {
      notReplicable++
      continue
    }
    const { time } = context
    const changeId = versionIdAt(context, n)
    const change = { changeId, kind: 'put', key, versionId, bytes: version.size, time } as const
    const present = draft.get(siteKeys.siteState(bucketId)) ?? before
    if (addChange(draft, present, { ...change, attempts: 0, dueAt: time, lastError: null })) queued++
  }
  const state = draft.get(siteKeys.siteState(bucketId)) ?? before
  const moved = { ...resync, place: next ?? place, queued: resync.queued + queued, notReplicable }
  changeState(draft, { ...state, resync: { ...moved, endedAt: next === null ? context.time : null } })
  return accept({ queued })
}
