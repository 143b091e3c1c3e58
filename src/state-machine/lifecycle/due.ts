/**
 * When a lifecycle rule acts on a version, a delete marker or an upload.
 *
 * Owns: the filters and the rounding to midnight UTC. Knows nothing of: rows, locks, what the action does to the rows.
 * Rules: the walk, the preview, the header `x-amz-expiration` and apply ask the same function; where S3 leaves a choice, the later time counts.
 * [docs/adr/0085-lifecycle-rules.md] [AWS S3 user guide: lifecycle configuration elements]
 */
import type { UploadRecord } from '../objects/records.ts'
import type { DeleteMarkerRecord, ObjectRecord, VersionRecord } from '../versions/records.ts'
import type { LifecycleFilter, LifecycleRule } from './records.ts'

export const DAY_MS = 86_400_000

/** What a rule can act on, with what it has to know of its neighbours. */
export type LifecycleSubject =
  | { readonly kind: 'current'; readonly version: ObjectRecord }
  /** The newest version of its key. `isLone`: no other version is left. */
  | { readonly kind: 'marker'; readonly version: DeleteMarkerRecord; readonly isLone: boolean }
  /** `since`: the time of the next newer version. `newerObjects`: noncurrent objects of the key that are newer; counted up to a bound. */
  | {
      readonly kind: 'noncurrent'
      readonly version: VersionRecord
      readonly since: number
      readonly newerObjects: number
    }
  | {
      readonly kind: 'upload'
      readonly upload: Pick<UploadRecord, 'key' | 'uploadId' | 'createdAt' | 'bytes'>
    }

/** The first midnight UTC that is not before `time` and so many days. ms since 1970 */
export function midnightAfter(time: number, days: number): number {
  return Math.ceil((time + days * DAY_MS) / DAY_MS) * DAY_MS
}

/** The midnight that begins the next day; of a midnight itself the one a day later. */
export function nextMidnight(time: number): number {
  return (Math.floor(time / DAY_MS) + 1) * DAY_MS
}

/** From when on the rule acts on this; null: never. */
export function dueAt(rule: LifecycleRule, subject: LifecycleSubject): number | null {
  if (!rule.isEnabled) return null
  switch (subject.kind) {
    case 'current':
      return matches(rule.filter, subject.version) ? currentDueAt(rule, subject.version) : null
    case 'marker':
      return markerDueAt(rule, subject)
    case 'noncurrent':
      return noncurrentDueAt(rule, subject)
    case 'upload': {
      const { key, createdAt } = subject.upload
      if (rule.abortUploadDays === null || !key.startsWith(rule.filter.prefix)) return null
      return hasOnlyPrefix(rule.filter) ? midnightAfter(createdAt, rule.abortUploadDays) : null
    }
  }
}

/** The rule that acts first, of those in force; null: none ever does. Of two at the same time the earlier one in the configuration. */
export function firstDue(
  rules: readonly LifecycleRule[],
  subject: LifecycleSubject,
): { readonly rule: LifecycleRule; readonly at: number } | null {
  let first: { readonly rule: LifecycleRule; readonly at: number } | null = null
  for (const rule of rules) {
    const at = dueAt(rule, subject)
    if (at !== null && (first === null || at < first.at)) first = { rule, at }
  }
  return first
}

function currentDueAt({ expiration }: LifecycleRule, { lastModified }: ObjectRecord): number | null {
  if (expiration === null || 'expiredDeleteMarker' in expiration) return null
  return 'days' in expiration ? midnightAfter(lastModified, expiration.days) : expiration.date
}

/** A delete marker has neither tags nor a size, so a rule that asks for them is not about it. */
function markerDueAt(
  { expiration, filter }: LifecycleRule,
  { version: { key, lastModified }, isLone }: Extract<LifecycleSubject, { kind: 'marker' }>,
): number | null {
  if (!isLone || expiration === null || !key.startsWith(filter.prefix) || !hasOnlyPrefix(filter)) return null
  if ('expiredDeleteMarker' in expiration) return lastModified
  return 'days' in expiration ? midnightAfter(lastModified, expiration.days) : null
}

function noncurrentDueAt(
  { noncurrent, filter }: LifecycleRule,
  { version, since, newerObjects }: Extract<LifecycleSubject, { kind: 'noncurrent' }>,
): number | null {
  if (noncurrent === null || newerObjects < noncurrent.newerKept || !matches(filter, version)) return null
  return midnightAfter(since, noncurrent.days)
}

export function hasOnlyPrefix({ tags, sizeGreaterThan, sizeLessThan }: LifecycleFilter): boolean {
  return sizeGreaterThan === null && sizeLessThan === null && Object.keys(tags).length === 0
}

function matches(filter: LifecycleFilter, version: VersionRecord): boolean {
  if (!version.key.startsWith(filter.prefix)) return false
  if (version.kind === 'deleteMarker') return hasOnlyPrefix(filter)
  const { sizeGreaterThan, sizeLessThan } = filter
  if (sizeGreaterThan !== null && version.size <= sizeGreaterThan) return false
  if (sizeLessThan !== null && version.size >= sizeLessThan) return false
  return Object.entries(filter.tags).every(
    ([name, value]) => Object.hasOwn(version.tags, name) && version.tags[name] === value,
  )
}
