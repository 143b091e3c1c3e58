/**
 * Queues changes of a bucket for its other site: one row in the entry of the change.
 *
 * Owns: which changes a rule names. Knows nothing of: targets. Rules: no change without its row, no row without its change; what came from
 * another site is not sent on; what a lifecycle rule removes is not removed there, where rules of its own act; a version that only its client can read
 * is counted and has no row, because no attempt could succeed.
 */
import { assert } from '../base/assert.ts'
import type { Draft } from '../base/draft.ts'
import { versionIdAt } from '../base/version-id.ts'
import type { ApplyContext } from '../base/view.ts'
import type { BucketRecord } from '../buckets/records.ts'
import type { VersionRecord } from '../versions/records.ts'
import { siteKeys } from './keys.ts'
import { isReplica } from './mark.ts'
import type { SiteChangeKind, SiteRule } from './records.ts'
import { addChange, changeState } from './site-state.ts'

export interface SiteEvent {
  readonly kind: SiteChangeKind
  readonly version: VersionRecord
  /** A replica may be copied: the copy is a version of this site, whatever its metadata says. */
  readonly isCopy?: boolean
  /** Its position among the events of the command. */
  readonly n?: number
}

/** `bucket`: as it was when the command started. Costs nothing for a bucket without replication. */
export function queueForSite(
  draft: Draft,
  bucket: BucketRecord,
  event: SiteEvent,
  context: ApplyContext,
): void {
  if (bucket.hasReplication !== true) return
  const site = draft.get(siteKeys.site(bucket.id))
  assert(site !== undefined, 'a bucket with hasReplication has the row')
  if (!isNamed(site.rules, event)) return
  const { kind, version, n } = event
  const state = draft.get(siteKeys.siteState(bucket.id))
  assert(state !== undefined, 'a bucket with hasReplication has its state')
  if (!isReadable(version) && kind !== 'delete') {
    if (kind === 'put') changeState(draft, { ...state, notReplicable: state.notReplicable + 1 })
    return
  }
  const { time } = context
  addChange(draft, state, {
    changeId: versionIdAt(context, n),
    kind,
    key: version.key,
    versionId: version.versionId,
    bytes: bytesOf(kind, version),
    time,
    attempts: 0,
    dueAt: time,
    lastError: null,
  })
}

export function bytesOf(kind: SiteChangeKind, version: VersionRecord): number {
  return kind === 'put' && version.kind === 'object' ? version.size : 0
}

/** Whether its bytes can be read without its client. What cannot is never at the other site, so its tags, locks and removal are not either. */
export function isReadable(version: VersionRecord): boolean {
  return version.kind !== 'object' || version.customerSeal === undefined
}

/** Whether a rule sends this. */
export function isNamed(
  rules: readonly SiteRule[],
  { kind, version, isCopy = false }: Omit<SiteEvent, 'n'>,
): boolean {
  // A deletion without a version is known by its request; everything else by the version.
  if (kind !== 'delete' && version.kind === 'object' && !isCopy && isReplica(version.metadata)) return false
  const rule = rules.find((one) => one.isEnabled && matches(one, version))
  if (rule === undefined) return false
  if (kind === 'delete') return rule.deletes !== 'none'
  return kind !== 'remove' || rule.deletes === 'all'
}

/** A delete marker has no tags. */
function matches({ prefix, tags }: SiteRule, version: VersionRecord): boolean {
  if (!version.key.startsWith(prefix)) return false
  const present = version.kind === 'object' ? version.tags : {}
  return Object.entries(tags).every(
    ([name, value]) => Object.hasOwn(present, name) && present[name] === value,
  )
}
