/**
 * One step of the deletion of a tenant: some of what a bucket holds, an empty bucket, some access keys and accounts.
 *
 * Owns: what each kind of item takes along, and the count of it in the operation. Knows nothing of: which items there are.
 * Rules: a locked version goes by no step, and a step that meets one writes nothing; what is gone already is skipped, so two
 * drivers never count the same twice; chunks are released like those of any other version, and collected like them.
 */
import { operationKeys } from '../operations/keys.ts'
import { objectKeys } from '../objects/keys.ts'
import type { ApplyContext } from '../base/view.ts'
import type { EraseStep, ErasedItem, RemovalCommand } from './commands.ts'
import { discardBody } from '../bodies/bodies.ts'
import { tooMany } from '../base/batch-bound.ts'
import type { TenantId } from '../base/record-ids.ts'
import { countContent } from '../buckets/buckets.ts'
import { bucketOf } from '../buckets/find-bucket.ts'
import type { BucketRecord } from '../buckets/records.ts'
import type { OperationProgress, OperationRecord } from '../operations/records.ts'
import { removeBucket } from './delete-bucket.ts'
import type { Draft } from '../base/draft.ts'
import { forgetExpiry } from '../objects/expiry-queue.ts'
import { giveUp } from '../objects/multipart.ts'
import { lockedFault, placeOf } from '../objects/new-versions.ts'
import { added } from '../operations/operations.ts'
import { type Accepted, accept, type Refused } from '../base/reply.ts'
import { forgetAccess } from '../tenants/tenant-access.ts'
import { underDeletion } from './tenant-end.ts'
import { versionAt, VersionChain } from '../versions/versions.ts'

/** Answers the operation as it stands then. */
export function eraseTenant(
  draft: Draft,
  command: Extract<RemovalCommand, { type: 'eraseTenant' }>,
  context: ApplyContext,
): Accepted<OperationRecord> | Refused {
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
  const moved: OperationRecord = { ...operation, status: 'running', startedAt, phase, progress }
  draft.put(operationKeys.operation(operation.operationId), moved)
  return accept(moved)
}

type Done = Pick<OperationProgress, 'blobsDone' | 'bytesMoved'>
const NOTHING_DONE: Done = { blobsDone: 0, bytesMoved: 0 }

function take(
  draft: Draft,
  tenantId: TenantId,
  step: EraseStep,
  context: ApplyContext,
): Accepted<Done> | Refused {
  if (step.kind === 'access') return eraseAccess(draft, tenantId, step)
  const bucket = bucketOf(draft, tenantId, step.bucket)
  // Another driver came first.
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

/** All of it, or nothing when a version is locked. No hook is told: there is nobody any more who would want to know. */
function eraseContent(
  draft: Draft,
  bucket: BucketRecord,
  items: readonly ErasedItem[],
  context: ApplyContext,
): Accepted<Done> | Refused {
  const fault = tooMany('erase content', items.length)
  if (fault !== null) return fault
  let [blobsDone, bytesMoved] = [0, 0]
  const change = { objects: 0, versions: 0, deleteMarkers: 0, logicalBytes: 0 }
  for (const item of items) {
    if (item.kind === 'version') {
      const chain = new VersionChain(draft, bucket.id, item.key)
      const locked = eraseVersion(draft, { bucket, chain, ...item }, context)
      if (locked !== null) return locked
      change.objects += chain.change.objects
      change.versions += chain.change.versions
      change.deleteMarkers += chain.change.deleteMarkers
      change.logicalBytes += chain.change.bytes
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

/** Null: it is gone. */
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

/** It would end by itself within a day, but it says what users wrote about an object. */
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
