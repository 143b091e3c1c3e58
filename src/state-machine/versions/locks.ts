/**
 * Retention and legal hold: which versions may not go, and which locks may be asked for.
 *
 * Owns: the decisions. Knows nothing of: who asks; nobody may bypass them.
 * Rules: they fail closed: a lock that cannot be read holds for ever. Retention is extended, never shortened, and it ends by
 * the confirmed time of the log: callers in apply pass that as `time`.
 */
import type { BucketRecord } from '../buckets/records.ts'
import type { RetentionRecord, VersionRecord, VersionSettings } from './records.ts'
import { type Refused, refuse } from '../base/reply.ts'

const MODES: readonly unknown[] = ['GOVERNANCE', 'COMPLIANCE']
/** The end of the year 9999, the last that RFC 3339 can write. */
const UNTIL_MAX = 253_402_300_799_999

/** Null, or why the version must stay. */
export function lockOf(version: VersionRecord, time: number): string | null {
  if (version.kind === 'deleteMarker') return null
  const { retention, legalHold } = version
  if (legalHold !== false) return 'it is under legal hold'
  if (retention === null) return null
  if (!isReadable(retention)) return 'its retention cannot be read'
  return retention.until > time ? `it is under retention in mode ${retention.mode}` : null
}

/** Whether the version carries a lock, be it over or not to be read. */
export function hasLockSetting(version: VersionRecord): boolean {
  return version.kind === 'object' && (version.retention !== null || version.legalHold !== false)
}

/** What holds a version, for plans. */
export interface Locks {
  readonly isHeld: boolean
  readonly isRetained: boolean
  /** When its retention ends or ended; null when it has none, or it cannot be read. */
  readonly until: number | null
}

/** Agrees with `lockOf`: what is locked there is held or retained here. */
export function locksOf(version: VersionRecord, time: number): Locks {
  if (version.kind === 'deleteMarker') return { isHeld: false, isRetained: false, until: null }
  const { retention, legalHold } = version
  const isHeld = legalHold !== false
  if (retention === null) return { isHeld, isRetained: false, until: null }
  if (!isReadable(retention)) return { isHeld, isRetained: true, until: null }
  return { isHeld, isRetained: retention.until > time, until: retention.until }
}

/** Nothing is taken for granted: a row may come from a build that wrote it differently. */
function isReadable(retention: Partial<RetentionRecord> | undefined): boolean {
  const { mode, until = Number.NaN } = retention ?? {}
  return MODES.includes(mode) && Number.isSafeInteger(until) && until >= 0 && until <= UNTIL_MAX
}

/** What a new version asks for; null: it may. */
export function settingsFault(
  bucket: BucketRecord,
  { retention, legalHold }: Pick<VersionSettings, 'retention' | 'legalHold'>,
  time: number,
): Refused | null {
  if (retention === null && !legalHold) return null
  const { name } = bucket
  if (!bucket.objectLockEnabled)
    return refuse('object_lock_not_enabled', `Bucket "${name}" was created without object lock`)
  return retention === null ? null : retentionFault(retention, time)
}

export function retentionFault({ mode, until }: RetentionRecord, time: number): Refused | null {
  if (!isReadable({ mode, until }))
    return refuse('invalid_request', 'The retention has no known mode, or no date before the year 10000')
  return until > time ? null : refuse('invalid_request', 'The retention ends in the past: give a later date')
}

/** null: nothing speaks against going from one to the other. */
export function extensionFault(
  before: RetentionRecord | null,
  after: RetentionRecord,
  time: number,
): Refused | null {
  if (before === null) return null
  if (!isReadable(before))
    return refuse('object_locked', 'The present retention cannot be read, so it holds for ever')
  if (before.until <= time) return null
  if (before.mode === 'COMPLIANCE' && after.mode !== 'COMPLIANCE')
    return refuse('object_locked', 'Retention in mode COMPLIANCE cannot be weakened')
  if (after.until >= before.until) return null
  return refuse('object_locked', 'Retention is never shortened: give the present date or a later one')
}
