/**
 * The planner: rows of a bucket in, what lifecycle rules would do to them now out.
 *
 * Owns: which rows have to be read for a set of rules, and what is due among them. Knows nothing of: where rows come from, when it is asked.
 * Rule: a plan decides nothing; apply judges each item again. What is locked is planned as locked, so that a preview can say so.
 */
import type { View } from '../base/view.ts'
import type { BucketRecord } from '../buckets/records.ts'
import { replacedBy } from '../objects/new-versions.ts'
import type { UploadRecord } from '../objects/records.ts'
import { lockOf } from '../versions/locks.ts'
import type { VersionRecord } from '../versions/records.ts'
import { NULL_VERSION } from '../versions/versions.ts'
import type { LifecycleDone, LifecycleItem } from './commands.ts'
import { firstDue, type LifecycleSubject } from './due.ts'
import type { LifecycleRule } from './records.ts'
import { NewerObjects, subjectOf } from './subjects.ts'

/** Uploads, versions that are not current objects, current objects: in this order, so that a delete marker is not looked at in the walk that makes it. */
export const WALKED_KINDS = ['upload', 'version', 'object'] as const
export type WalkedKind = (typeof WALKED_KINDS)[number]

export interface LifecyclePlanned extends LifecycleDone {
  readonly ruleId: string
  readonly item: LifecycleItem
  /** Why it stays; null: it goes. */
  readonly lock: string | null
}

interface Planning {
  readonly view: View
  readonly bucket: BucketRecord
  readonly rules: readonly LifecycleRule[]
  /** The confirmed time of the log. ms since 1970 */
  readonly time: number
}

/** The kinds of rows that some rule needs, and the prefix that all keys share which these rules name. */
export function walkOf(
  all: readonly LifecycleRule[],
  { versioning }: Pick<BucketRecord, 'versioning'>,
): readonly { readonly kind: WalkedKind; readonly prefix: string }[] {
  const hasVersions = versioning !== 'Unversioned'
  const needs: Readonly<Record<WalkedKind, (rule: LifecycleRule) => boolean>> = {
    upload: ({ abortUploadDays }) => abortUploadDays !== null,
    version: ({ noncurrent, expiration }) =>
      hasVersions && (noncurrent !== null || (expiration !== null && !('date' in expiration))),
    object: ({ expiration }) => expiration !== null && !('expiredDeleteMarker' in expiration),
  }
  return WALKED_KINDS.flatMap((kind) => {
    const rules = all.filter((rule) => rule.isEnabled && needs[kind](rule))
    const prefix = sharedPrefix(rules.map(({ filter }) => filter.prefix))
    return prefix === null ? [] : [{ kind, prefix }]
  })
}

/** Null: of no texts. */
function sharedPrefix(texts: readonly string[]): string | null {
  let shared: string | null = null
  for (const text of texts) {
    shared ??= text
    while (!text.startsWith(shared)) shared = Array.from(shared).slice(0, -1).join('')
  }
  return shared
}

/** Rows of one kind, of a key the newest first. `view`: of the same moment. */
export function planVersions(
  planning: Planning,
  rows: readonly VersionRecord[],
): readonly LifecyclePlanned[] {
  const { view, bucket, rules } = planning
  const most = Math.max(0, ...rules.map(({ noncurrent }) => noncurrent?.newerKept ?? 0))
  const newer = new NewerObjects(view, bucket.id, most)
  return rows.flatMap((version) => {
    const subject = subjectOf(version, newer)
    const rule = ruleDue(planning, subject)
    return rule === null ? [] : [plannedVersion(planning, { version, subject, ruleId: rule.id })]
  })
}

export function planUploads(
  planning: Omit<Planning, 'view' | 'bucket'>,
  rows: readonly UploadRecord[],
): readonly LifecyclePlanned[] {
  return rows.flatMap((upload) => {
    const rule = ruleDue(planning, { kind: 'upload', upload })
    if (rule === null) return []
    const { key, uploadId, bytes } = upload
    return [
      { ruleId: rule.id, item: { key, uploadId }, kind: 'upload', key, id: uploadId, bytes, lock: null },
    ]
  })
}

function ruleDue(
  { rules, time }: Pick<Planning, 'rules' | 'time'>,
  subject: LifecycleSubject,
): LifecycleRule | null {
  const first = firstDue(rules, subject)
  return first !== null && first.at <= time ? first.rule : null
}

function plannedVersion(
  { view, bucket, time }: Planning,
  {
    version,
    subject,
    ruleId,
  }: { readonly version: VersionRecord; readonly subject: LifecycleSubject; readonly ruleId: string },
): LifecyclePlanned {
  const { key, versionId, isNull } = version
  const common = { ruleId, item: { key, versionId }, key, id: isNull ? NULL_VERSION : versionId }
  if (subject.kind === 'current' && bucket.versioning !== 'Unversioned') {
    const replaced = replacedBy(view, bucket, key)
    const lock = replaced === undefined ? null : lockOf(replaced, time)
    return { ...common, kind: 'hidden', bytes: replaced?.kind === 'object' ? replaced.size : 0, lock }
  }
  const kind = subject.kind === 'current' ? 'expired' : subject.kind
  return { ...common, kind, bytes: version.kind === 'object' ? version.size : 0, lock: lockOf(version, time) }
}
