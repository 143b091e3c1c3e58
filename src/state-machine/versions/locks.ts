/**
 * Retention and legal hold: which versions may not be removed, and which locks may be set.
 *
 * Owns: the decisions. Knows nothing of: the callers; whether one may set GOVERNANCE aside is decided before, and no caller sets aside
 * a legal hold, COMPLIANCE, or what is unreadable.
 * Rules: decisions fail closed: an unreadable lock never ends. Retention is extended, and not shortened without that bypass; it ends by the
 * confirmed log time: callers in apply pass that as `time`.
 */
import type { BucketRecord, DefaultRetention } from '../buckets/records.ts'
import type { RetentionRecord, VersionRecord, VersionSettings } from './records.ts'
import { type Refused, refuse } from '../base/reply.ts'

const DAY_MS = 86_400_000
const MODES: readonly unknown[] = ['GOVERNANCE', 'COMPLIANCE']
/** The end of the year 9999, the last year that RFC 3339 can represent. */
const UNTIL_MAX = 253_402_300_799_999

/** Null: the version may be removed. Otherwise the reason why not. `bypass`: retention in mode GOVERNANCE does not count. */
export function lockOf(version: VersionRecord, time: number, bypass = false): string | null {
  if (version.kind === 'deleteMarker') return null
  const { retention, legalHold } = version
  if (legalHold !== false) return 'it is under legal hold'
  if (retention === null) return null
  if (!isReadable(retention)) return 'its retention cannot be read'
  if (retention.until <= time || (bypass && retention.mode === 'GOVERNANCE')) return null
  return `it is under retention in mode ${retention.mode}`
}

/** Whether the version carries a lock setting, also one that has ended or is unreadable. */
export function hasLockSetting(version: VersionRecord): boolean {
  return version.kind === 'object' && (version.retention !== null || version.legalHold !== false)
}

/** The locks of a version, for plans. */
export interface Locks {
  readonly isHeld: boolean
  readonly isRetained: boolean
  /** When its retention ends or ended; null: it has none, or the retention is unreadable. */
  readonly until: number | null
}

/** Agrees with `lockOf`: a version that is locked there is held or retained here. */
export function locksOf(version: VersionRecord, time: number): Locks {
  if (version.kind === 'deleteMarker') return { isHeld: false, isRetained: false, until: null }
  const { retention, legalHold } = version
  const isHeld = legalHold !== false
  if (retention === null) return { isHeld, isRetained: false, until: null }
  if (!isReadable(retention)) return { isHeld, isRetained: true, until: null }
  return { isHeld, isRetained: retention.until > time, until: retention.until }
}

/** Checks every member: another build may have written the row differently. */
function isReadable(retention: Partial<RetentionRecord> | undefined): boolean {
  const { mode, until = Number.NaN } = retention ?? {}
  return MODES.includes(mode) && Number.isSafeInteger(until) && until >= 0 && until <= UNTIL_MAX
}

/** Whether a new version may have these settings; null: it may. */
export function settingsFault(
  bucket: BucketRecord,
  { retention, legalHold }: Pick<VersionSettings, 'retention' | 'legalHold'>,
  time: number,
): Refused | null {
  if (retention === null && !legalHold) return null
  const { name } = bucket
  if (!bucket.objectLockEnabled)
    return refuse('object_lock_not_enabled', `Bucket "${name}" has no object lock`)
  return retention === null ? null : retentionFault(retention, time)
}

/** Of a new version: the one that it asks for, or the default of its bucket, counted from `time`, the log time. */
export function retentionOfNew(
  { defaultRetention }: BucketRecord,
  requested: RetentionRecord | null,
  time: number,
): RetentionRecord | null {
  if (requested !== null || defaultRetention === undefined) return requested
  const until = time + daysOf(defaultRetention) * DAY_MS
  return { mode: defaultRetention.mode, until: Math.min(until, UNTIL_MAX) }
}

/** A year has 365 days. */
export function daysOf(given: DefaultRetention): number {
  return 'days' in given ? given.days : given.years * 365
}

export function retentionFault({ mode, until }: RetentionRecord, time: number): Refused | null {
  if (!isReadable({ mode, until }))
    return refuse(
      'invalid_request',
      'The retention has no known mode, or its date is not before the year 10000',
    )
  return until > time ? null : refuse('invalid_request', 'The retention ends in the past: give a later date')
}

/** Null: the retention may change from `before` to `after`; null is none. `bypass`: retention in mode GOVERNANCE does not count. */
export function extensionFault(
  { before, after }: { readonly before: RetentionRecord | null; readonly after: RetentionRecord | null },
  time: number,
  bypass = false,
): Refused | null {
  if (before === null) return null
  if (!isReadable(before))
    return refuse('object_locked', 'The present retention cannot be read, so it never ends')
  if (before.until <= time || (bypass && before.mode === 'GOVERNANCE')) return null
  if (after === null)
    return refuse('object_locked', `Retention in mode ${before.mode} cannot be removed before it ends`)
  if (before.mode === 'COMPLIANCE' && after.mode !== 'COMPLIANCE')
    return refuse('object_locked', 'Retention in mode COMPLIANCE cannot be weakened')
  if (after.until >= before.until) return null
  return refuse('object_locked', 'Retention is never shortened: give the present date or a later one')
}
