/**
 * One step of the deletion of a tenant: removes some contents of a bucket, an empty bucket, or some access keys and accounts.
 *
 * Owns: the rows that each kind of item removes, and its count in the operation. Knows nothing of: which items exist.
 * Rules: no step removes a locked version, and a step that meets one writes nothing; items that are gone are skipped, so two
 * drivers never count an item twice; chunks are released and collected like those of any other version.
 */
import { longOperationKeys } from '../long-operations/keys.ts'
import { objectKeys } from '../objects/keys.ts'
import type { ApplyContext } from '../base/view.ts'
import type { EraseStep, ErasedItem, RemovalCommand } from './commands.ts'
import { discardBody } from '../bodies/bodies.ts'
import { tooMany } from '../base/batch-bound.ts'
import type { TenantId } from '../base/record-ids.ts'
import { countContent } from '../buckets/buckets.ts'
import { presentBucket } from '../buckets/find-bucket.ts'
import type { BucketRecord } from '../buckets/records.ts'
import type { LongOperationProgress, LongOperation } from '../long-operations/records.ts'
import { removeBucket } from './delete-bucket.ts'
import type { Draft } from '../base/draft.ts'
import { forgetExpiry } from '../objects/expiry-queue.ts'
import { giveUp } from '../objects/multipart.ts'
import { lockedFault, placeOf } from '../objects/new-versions.ts'
import { added } from '../long-operations/operations.ts'
import { type Accepted, accept, type Refused } from '../base/reply.ts'
import { forgetAccess } from '../tenants/tenant-access.ts'
import { underDeletion } from './tenant-end.ts'
import { versionAt, VersionChain } from '../versions/versions.ts'

/** Returns the operation after the step. */
export function eraseTenant(
  draft: Draft,
  command: Extract<RemovalCommand, { type: 'eraseTenant' }>,
  context: ApplyContext,
): Accepted<LongOperation> | Refused {
  const { tenantId, step } = command
  const found = underDeletion(draft, command, 'erase')
  if (!found.ok) return found
  const { operation } = found.value
  const done = take(draft, tenantId, step, context)
  if (!done.ok) return done
  const progress = added(operation.progress, done.value)
  const startedAt = operation.startedAt ?? context.time
  const phase =
    step.kind === 'access' ? 'deleting access keys and accounts' : `deleting bucket "${step.bucket}"`
  const moved: LongOperation = { ...operation, status: 'running', startedAt, phase, progress }
  draft.put(longOperationKeys.operation(operation.operationId), moved)
  return accept(moved)
}

type Done = Pick<LongOperationProgress, 'blobsDone' | 'bytesMoved'>
const NOTHING_DONE: Done = { blobsDone: 0, bytesMoved: 0 }

function take(
  draft: Draft,
  tenantId: TenantId,
  step: EraseStep,
  context: ApplyContext,
): Accepted<Done> | Refused {
  if (step.kind === 'access') return eraseAccess(draft, tenantId, step)
  const bucket = presentBucket(draft, tenantId, step.bucket)
  // Another driver has removed it.
  if (!bucket.ok) return accept(NOTHING_DONE)
  if (step.kind === 'content') return eraseContent(draft, bucket.value, step.items, context)
  const removed = removeBucket(draft, bucket.value, 'removed')
  return removed.ok ? accept(NOTHING_DONE) : removed
}

function eraseAccess(
  draft: Draft,
  tenantId: TenantId,
  step: Extract<EraseStep, { kind: 'access' }>,
): Accepted<Done> | Refused {
  const fault = tooMany('erase access keys and accounts', step.accessKeyIds.length + step.accountIds.length)
  if (fault !== null) return fault
  forgetAccess(draft, tenantId, step)
  return accept(NOTHING_DONE)
}

/** Erases all items, or none if a version is locked. Announces no events: the tenant and its hooks end. */
function eraseContent(
  draft: Draft,
  bucket: BucketRecord,
  items: readonly ErasedItem[],
  context: ApplyContext,
): Accepted<Done> | Refused {
  const fault = tooMany('erase content', items.length)
  if (fault !== null) return fault
  let [blobsDone, bytesMoved] = [0, 0]
  const change = { objects: 0, versions: 0, deleteMarkers: 0, logicalBytes: 0, metadataBytes: 0 }
  for (const item of items) {
    if (item.kind === 'version') {
      const chain = new VersionChain(draft, bucket.id, item.key)
      const locked = eraseVersion(draft, { bucket, chain, ...item }, context)
      if (locked !== null) return locked
      change.objects += chain.change.objects
      change.versions += chain.change.versions
      change.deleteMarkers += chain.change.deleteMarkers
      change.logicalBytes += chain.change.bytes
      change.metadataBytes += chain.change.metadataBytes
    } else if (item.kind === 'upload') {
      const upload = draft.get(objectKeys.upload(bucket.id, item.key, item.uploadId))
      if (upload === undefined) continue
      giveUp(draft, bucket, upload)
      blobsDone++
      bytesMoved += upload.bytes
    } else eraseAnswer(draft, bucket, item)
  }
  countContent(draft, bucket, change)
  blobsDone -= change.versions + change.deleteMarkers
  bytesMoved -= change.logicalBytes
  return accept({ blobsDone, bytesMoved })
}

interface VersionToErase {
  readonly bucket: BucketRecord
  readonly chain: VersionChain
  readonly key: string
  readonly versionId: string
}

/** Null: the version is gone now. */
function eraseVersion(
  draft: Draft,
  { bucket, chain, key, versionId }: VersionToErase,
  context: ApplyContext,
): Refused | null {
  const version = versionAt(draft, bucket.id, key, versionId)
  if (version === undefined) return null
  const locked = lockedFault(version, context)
  if (locked !== null) return locked
  chain.remove(version)
  if (version.kind === 'object') discardBody(draft, placeOf(bucket, version), version.body, context)
  return null
}

/** The answer would expire within a day, but it contains user metadata of an object. */
function eraseAnswer(
  draft: Draft,
  { id: bucketId }: BucketRecord,
  item: Extract<ErasedItem, { kind: 'idempotency' | 'completed' }>,
): void {
  if (item.kind === 'idempotency') {
    const key = objectKeys.idempotency(bucketId, item.key, item.name)
    const answer = draft.get(key)
    if (answer === undefined) return
    draft.remove(key)
    forgetExpiry(draft, { at: answer.expiresAt, id: answer.object.versionId })
  } else {
    const key = objectKeys.completed(bucketId, item.key, item.uploadId)
    const answer = draft.get(key)
    if (answer === undefined) return
    draft.remove(key)
    forgetExpiry(draft, { at: answer.expiresAt, id: item.uploadId })
  }
}
