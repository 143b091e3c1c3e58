/**
 * Carries out one lifecycle rule on some items of a bucket, and ends a walk.
 *
 * Owns: what a rule does to each kind of item. Knows nothing of: how items were found.
 * Rules: each item is decided again, by the rule and the rows at this index and by the confirmed time; what the rule does not name is kept;
 * nothing that is locked is removed, and no rule bypasses a lock.
 */
import { objectKeys } from '../objects/keys.ts'
import { tooMany } from '../base/batch-bound.ts'
import type { Draft } from '../base/draft.ts'
import { type Accepted, accept, type Refused } from '../base/reply.ts'
import type { ApplyContext } from '../base/view.ts'
import { bucketOf } from '../buckets/find-bucket.ts'
import type { BucketRecord } from '../buckets/records.ts'
import { giveUp } from '../objects/multipart.ts'
import { hideVersions, removeVersion } from '../objects/objects.ts'
import { activeTenant } from '../tenants/tenants.ts'
import type { VersionRecord } from '../versions/records.ts'
import { NULL_VERSION, versionAt, VersionChain } from '../versions/versions.ts'
import type { LifecycleCommand, LifecycleDone, LifecycleItem, LifecycleReplies } from './commands.ts'
import { dueAt, type LifecycleSubject, nextMidnight } from './due.ts'
import { lifecycleKeys } from './keys.ts'
import type { LifecycleRule } from './records.ts'
import { lifecycleOf, moveTurn } from './rules.ts'
import { NewerObjects, subjectOf } from './subjects.ts'

const NOTHING: LifecycleReplies['applyLifecycleRule'] = { done: [], kept: 0 }

export function applyLifecycleRule(
  draft: Draft,
  command: Extract<LifecycleCommand, { type: 'applyLifecycleRule' }>,
  context: ApplyContext,
): Accepted<LifecycleReplies['applyLifecycleRule']> | Refused {
  const { tenantId, bucketId, ruleId, items } = command
  const fault = tooMany('act on items', items.length)
  if (fault !== null) return fault
  const tenant = activeTenant(draft, tenantId)
  if (!tenant.ok) return tenant
  const found = bucketOf(draft, tenantId, command.bucket)
  if (!found.ok) return found
  const bucket = found.value
  const rule = bucket.id === bucketId ? ruleOf(draft, bucket, ruleId) : undefined
  if (rule === undefined) return accept({ ...NOTHING, kept: items.length })
  const newer = new NewerObjects(draft, bucket.id, rule.noncurrent?.newerKept ?? 0)
  const done: LifecycleDone[] = []
  for (const [n, item] of items.entries()) {
    const one =
      'uploadId' in item
        ? abort(draft, { bucket, rule, item }, context)
        : act(draft, { bucket, rule, item, newer, n }, context)
    if (one !== null) done.push(one)
  }
  return accept({ done, kept: items.length - done.length })
}

function ruleOf(draft: Draft, bucket: BucketRecord, ruleId: string): LifecycleRule | undefined {
  return lifecycleOf(draft, bucket)?.rules.find(({ id }) => id === ruleId)
}

function isDue(rule: LifecycleRule, subject: LifecycleSubject, { confirmedTime }: ApplyContext): boolean {
  const at = dueAt(rule, subject)
  return at !== null && at <= confirmedTime
}

interface Due<I extends LifecycleItem> {
  readonly bucket: BucketRecord
  readonly rule: LifecycleRule
  readonly item: I
}

function abort(
  draft: Draft,
  { bucket, rule, item }: Due<Extract<LifecycleItem, { readonly uploadId: string }>>,
  context: ApplyContext,
): LifecycleDone | null {
  const { key, uploadId } = item
  const upload = draft.get(objectKeys.upload(bucket.id, key, uploadId))
  if (upload === undefined || !isDue(rule, { kind: 'upload', upload }, context)) return null
  giveUp(draft, bucket, upload)
  return { kind: 'upload', key, id: uploadId, bytes: upload.bytes }
}

interface DueVersion extends Due<Extract<LifecycleItem, { readonly versionId: string }>> {
  readonly newer: NewerObjects
  /** Position in the command. */
  readonly n: number
}

/** Null: the version stays as it is. */
function act(
  draft: Draft,
  { bucket, rule, item, newer, n }: DueVersion,
  context: ApplyContext,
): LifecycleDone | null {
  const { key, versionId } = item
  const found = versionAt(draft, bucket.id, key, versionId)
  if (found === undefined) return null
  const subject = subjectOf(found, newer)
  if (!isDue(rule, subject, context)) return null
  const chain = new VersionChain(draft, bucket.id, key)
  const deletion = { bucket, key, chain, n, by: 'lifecycle' } as const
  const isHidden = subject.kind === 'current' && bucket.versioning !== 'Unversioned'
  const reply = isHidden
    ? hideVersions(draft, deletion, context)
    : removeVersion(draft, { ...deletion, found }, context)
  if (!reply.ok) return null
  const marker = isHidden ? reply.value.version : null
  const bytes = 0 - chain.change.bytes
  const kind = isHidden ? 'hidden' : KINDS[subject.kind]
  return {
    kind,
    key,
    id: clientIdOf(found),
    bytes,
    ...(marker === null ? {} : { markerId: marker.versionId }),
  }
}

const KINDS = { current: 'expired', marker: 'marker', noncurrent: 'noncurrent', upload: 'upload' } as const

function clientIdOf({ isNull, versionId }: VersionRecord): string {
  return isNull ? NULL_VERSION : versionId
}

/** Decides nothing about versions; a bucket of a tenant that is disabled has its next turn too. */
export function endLifecycleWalk(
  draft: Draft,
  command: Extract<LifecycleCommand, { type: 'endLifecycleWalk' }>,
  { confirmedTime }: ApplyContext,
): Accepted<null> | Refused {
  const { tenantId, bucketId, turnAt, revision, judgedAt } = command
  const found = bucketOf(draft, tenantId, command.bucket)
  if (!found.ok || found.value.id !== bucketId) return accept(null)
  const walk = draft.get(lifecycleKeys.lifecycleWalk(bucketId))
  if (walk?.turnAt !== turnAt || lifecycleOf(draft, found.value)?.revision !== revision) return accept(null)
  // A walk that judged by a later time than apply knows has seen nothing of the days between.
  const walkedAt = Math.min(judgedAt, confirmedTime)
  moveTurn(draft, found.value, { turnAt: nextMidnight(walkedAt), walkedAt })
  return accept(null)
}
