/**
 * Lifecycle rules as users understand them: which versions of a list a rule names, and what becomes of the list.
 *
 * Owns: the sentences, written differently from the code on purpose. Knows nothing of: rows, links.
 */
import assert from 'node:assert/strict'
import type { LifecycleDone, LifecycleKind } from '../../src/state-machine/lifecycle/commands.ts'
import type { LifecycleRule } from '../../src/state-machine/lifecycle/records.ts'
import type { Tags } from '../../src/state-machine/versions/records.ts'
import { dropFrom, insert, isLocked, type ModelBucket, type Of, replacedIn } from './model-bucket.ts'

const DAY_MS = 86_400_000

export interface LifecycleVersion {
  readonly isMarker: boolean
  readonly size: number
  readonly tags: Tags
  /** When it was made. */
  readonly at: number
}

/** The first midnight that is not earlier than so many days after `since` has come. */
function isOld(since: number, days: number, now: number): boolean {
  const end = since + days * DAY_MS
  const intoDay = end % DAY_MS
  return now >= (intoDay === 0 ? end : end - intoDay + DAY_MS)
}

/** The sentence of each action, without the code of the product. */
export function isNamed(
  { filter, expiration, noncurrent }: LifecycleRule,
  versions: readonly LifecycleVersion[],
  n: number,
  now: number,
): boolean {
  const version = versions[n]
  assert(version !== undefined)
  const { tags, sizeGreaterThan, sizeLessThan } = filter
  const isPlain = Object.keys(tags).length === 0 && sizeGreaterThan === null && sizeLessThan === null
  const fits = version.isMarker
    ? isPlain
    : Object.entries(tags).every(([name, value]) => version.tags[name] === value) &&
      (sizeGreaterThan === null || version.size > sizeGreaterThan) &&
      (sizeLessThan === null || version.size < sizeLessThan)
  if (!fits) return false
  if (n > 0) {
    const kept = versions.slice(1, n).filter(({ isMarker }) => !isMarker).length
    return (
      noncurrent !== null &&
      kept >= noncurrent.newerKept &&
      isOld(versions[n - 1]?.at ?? 0, noncurrent.days, now)
    )
  }
  if (expiration === null) return false
  if (version.isMarker && versions.length > 1) return false
  if ('days' in expiration) return isOld(version.at, expiration.days, now)
  if ('date' in expiration) return !version.isMarker && now >= expiration.date
  return version.isMarker
}

/** Carries out the rule on each item in turn; the reply must say the same. Takes only the ids of delete markers from it. */
export function takeLifecycle(
  bucket: ModelBucket,
  command: Of<'applyLifecycleRule'>,
  replied: readonly LifecycleDone[],
  times: { readonly time: number; readonly madeAt: number },
): void {
  const found = bucket.id === command.bucketId ? bucket.lifecycle : null
  const rule = found?.id === command.ruleId ? found : null
  const expected: string[] = []
  for (const item of rule === null ? [] : command.items) {
    assert(rule !== null)
    const reply = replied[expected.length]
    const kind =
      'uploadId' in item
        ? abort(bucket, rule, item, times.time)
        : act(bucket, rule, item, { ...times, markerId: reply?.markerId ?? '' })
    if (kind !== null) expected.push(`${kind} ${item.key}`)
  }
  assert.deepEqual(
    replied.map(({ kind, key }) => `${kind} ${key}`),
    expected,
  )
}

function abort(
  bucket: ModelBucket,
  { filter, isEnabled, abortUploadDays }: LifecycleRule,
  { key, uploadId }: { readonly key: string; readonly uploadId: string },
  now: number,
): LifecycleKind | null {
  const upload = bucket.uploads.get(uploadId)
  if (!isEnabled || upload?.key !== key || abortUploadDays === null || !key.startsWith(filter.prefix))
    return null
  if (!isOld(upload.createdAt, abortUploadDays, now)) return null
  bucket.uploads.delete(uploadId)
  return 'upload'
}

/** Null: the version stays as it is. */
function act(
  bucket: ModelBucket,
  rule: LifecycleRule,
  { key, versionId }: { readonly key: string; readonly versionId: string },
  { time, madeAt, markerId }: { readonly time: number; readonly madeAt: number; readonly markerId: string },
): LifecycleKind | null {
  const versions = bucket.keys.get(key) ?? []
  const n = versions.findIndex(({ id }) => id === versionId)
  const version = versions[n]
  if (version === undefined || !rule.isEnabled || !key.startsWith(rule.filter.prefix)) return null
  if (!isNamed(rule, versions, n, time)) return null
  const isHidden = n === 0 && !version.isMarker && bucket.versioning !== 'Unversioned'
  const goes = isHidden ? replacedIn(bucket, key) : version
  if (goes !== undefined && isLocked(goes, time)) return null
  dropFrom(bucket, key, goes)
  if (!isHidden) return n > 0 ? 'noncurrent' : version.isMarker ? 'marker' : 'expired'
  const empty = { size: 0, etag: '', content: [], tags: {}, retention: null, legalHold: false }
  const isNull = bucket.versioning === 'Suspended'
  insert(bucket, key, { id: markerId, isNull, isMarker: true, at: madeAt, ...empty })
  return 'hidden'
}
