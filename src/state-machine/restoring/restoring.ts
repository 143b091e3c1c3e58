/**
 * A step of a restore into the running cluster. [docs/adr/0094-restore-into-the-running-cluster.md]
 *
 * Owns: the order in a step: the cursor first, then the items. Knows nothing of: backups, who drives the restore. Rules: items and cursor change in one entry,
 * so a step counts once, however often and by whichever node it is proposed; a step that cannot be carried out whole changes nothing; items go only into
 * buckets that carry the mark of the operation.
 */
import { ITEMS_PER_COMMAND_MAX } from '../base/batch-bound.ts'
import { assert } from '../base/assert.ts'
import type { Draft } from '../base/draft.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'
import type { ApplyContext } from '../base/view.ts'
import { createBucket } from '../buckets/buckets.ts'
import { presentBucket } from '../buckets/find-bucket.ts'
import { bucketKeys } from '../buckets/keys.ts'
import type { BucketRecord } from '../buckets/records.ts'
import { longOperationKeys } from '../long-operations/keys.ts'
import { advanceOperation } from '../long-operations/operations.ts'
import {
  type BackupRestore,
  type LongOperation,
  MISSING_VERSIONS_NAMED_MAX,
} from '../long-operations/records.ts'
import { objectKeys } from '../objects/keys.ts'
import { createUpload, giveUp, putPart } from '../objects/multipart.ts'
import { tenantKeys } from '../tenants/keys.ts'
import { activeTenant, createTenant } from '../tenants/tenants.ts'
import type { RestoreItem, RestoringCommand } from './commands.ts'
import { restoreAssembled, restoreMarker, restoreVersion, type StepReply } from './restored-versions.ts'
import { restoreBucketSettings, restoreTenantSettings } from './restored-settings.ts'

/** An upload of a restore that was given up ends like any other that its client forgot. ms */
const UPLOAD_KEPT_MS = 7 * 86_400_000

export function restoreStep(
  draft: Draft,
  command: RestoringCommand,
  context: ApplyContext,
): StepReply<LongOperation> {
  const { operationId, from, cursor, phase, counted, items, missing } = command
  if (items.length > ITEMS_PER_COMMAND_MAX || missing.length > ITEMS_PER_COMMAND_MAX)
    return refuse('invalid_argument', `Cannot restore more than ${ITEMS_PER_COMMAND_MAX} items at once`)
  const moved = advanceOperation(
    draft,
    { type: 'advanceOperation', operationId, from, cursor, phase, counted },
    context,
  )
  if (!moved.ok) return moved
  const { restore } = moved.value
  if (restore === undefined)
    return refuse('invalid_argument', `Cannot restore: operation "${operationId}" is no restore`)
  noteRestore(draft, operationId, {
    missingCount: restore.missingCount + missing.length,
    missing: [...restore.missing, ...missing].slice(0, MISSING_VERSIONS_NAMED_MAX),
  })
  const done = restoreItems(draft, command, context)
  return done.ok ? accept(operationOf(draft, operationId)) : done
}

function restoreItems(draft: Draft, command: RestoringCommand, context: ApplyContext): StepReply<null> {
  for (const [n, item] of command.items.entries()) {
    const reply = restoreItem(draft, command, { item, n }, context)
    if (!reply.ok) return reply
  }
  return accept(null)
}

interface Numbered {
  readonly item: RestoreItem
  /** Its place in the command: each version needs an id of its own. */
  readonly n: number
}

function restoreItem(
  draft: Draft,
  command: RestoringCommand,
  { item, n }: Numbered,
  context: ApplyContext,
): StepReply<unknown> {
  const { operationId, bucket: name } = command
  const restore = restoreOf(draft, operationId)
  const { tenantId } = restore.to
  if (item.what === 'tenant') return beginTenant(draft, { operationId, restore, item }, context)
  const tenant = activeTenant(draft, tenantId)
  if (!tenant.ok) return tenant
  if (item.what === 'limits')
    return tenant.value.restoring === operationId
      ? restoreTenantSettings(draft, tenantId, item, context)
      : refuse(
          'precondition_failed',
          `Cannot restore settings: the restore did not make tenant "${tenantId}"`,
        )
  if (item.what === 'bucket') return beginBucket(draft, { operationId, tenantId, name, item }, context)
  const marked = markedBucket(draft, { operationId, tenantId, name })
  if (!marked.ok) return marked
  const bucket = marked.value
  switch (item.what) {
    case 'marker':
      return restoreMarker(draft, { bucket, item, n }, context)
    case 'version':
      return restoreVersion(draft, { bucket, item, n }, context)
    case 'settings':
      return settle(draft, { operationId, bucket, item }, context)
    case 'assembled':
      return assemble(draft, { operationId, bucket, item, n }, context)
    case 'dropped':
      return drop(draft, { operationId, bucket, item })
    case 'upload':
    case 'part':
      return unmarked(draft, bucket, () => collect(draft, { operationId, restore, bucket, item, n }, context))
  }
}

function beginTenant(
  draft: Draft,
  about: {
    readonly operationId: string
    readonly restore: BackupRestore
    readonly item: Extract<RestoreItem, { what: 'tenant' }>
  },
  context: ApplyContext,
): Accepted<unknown> | Refused {
  const { operationId, restore, item } = about
  const { tenantId: id, tenantName: name } = restore.to
  if (name === null) return refuse('invalid_argument', 'Cannot restore a tenant into one that exists')
  const { dataKey, dedupKey, masterKeyId } = item
  const made = createTenant(
    draft,
    { type: 'createTenant', id, name, dataKey, dedupKey, masterKeyId },
    context,
  )
  if (!made.ok) return made
  draft.put(tenantKeys.tenant(id), { ...made.value, restoring: operationId })
  return made
}

/** The mark of the tenant keeps others from making buckets, so it is set aside for this one. */
function beginBucket(
  draft: Draft,
  about: {
    readonly operationId: string
    readonly tenantId: string
    readonly name: string
    readonly item: Extract<RestoreItem, { what: 'bucket' }>
  },
  context: ApplyContext,
): Accepted<BucketRecord> | Refused {
  const { operationId, tenantId, name, item } = about
  const { versioning, objectLockEnabled, bucketsMax } = item
  const tenant = activeTenant(draft, tenantId)
  if (!tenant.ok) return tenant
  const { restoring, ...free } = tenant.value
  if (restoring === operationId) draft.put(tenantKeys.tenant(tenantId), free)
  const made = createBucket(
    draft,
    { type: 'createBucket', tenantId, name, bucketsMax, versioning, objectLockEnabled },
    context,
  )
  if (!made.ok) return made
  const counted = draft.get(tenantKeys.tenant(tenantId))
  assert(counted !== undefined, 'the tenant of a bucket exists')
  if (restoring !== undefined) draft.put(tenantKeys.tenant(tenantId), { ...counted, restoring })
  const bucket = { ...made.value, restoring: operationId }
  draft.put(bucketKeys.bucket(tenantId, name), bucket)
  noteRestore(draft, operationId, { filling: name })
  return accept(bucket)
}

function settle(
  draft: Draft,
  about: {
    readonly operationId: string
    readonly bucket: BucketRecord
    readonly item: Extract<RestoreItem, { what: 'settings' }>
  },
  context: ApplyContext,
): Accepted<null> | Refused {
  const { operationId, bucket, item } = about
  forget(draft, operationId, 'filling')
  return restoreBucketSettings(draft, bucket, item, context)
}

function markedBucket(
  draft: Draft,
  about: { readonly operationId: string; readonly tenantId: string; readonly name: string },
): Accepted<BucketRecord> | Refused {
  const { operationId, tenantId, name } = about
  const bucket = presentBucket(draft, tenantId, name)
  if (!bucket.ok || bucket.value.restoring === operationId) return bucket
  return refuse('precondition_failed', `Cannot restore into bucket "${name}": the restore did not make it`)
}

function collect(
  draft: Draft,
  about: {
    readonly operationId: string
    readonly restore: BackupRestore
    readonly bucket: BucketRecord
    readonly item: Extract<RestoreItem, { what: 'upload' | 'part' }>
    readonly n: number
  },
  context: ApplyContext,
): StepReply<unknown> {
  const { operationId, restore, bucket, item, n } = about
  const name = { tenantId: bucket.tenantId, bucket: bucket.name, key: item.key }
  if (item.what === 'part') {
    const { partNumber, size, checksums, body } = item
    const uploadId = restore.uploadId ?? ''
    const part = { partNumber, size, etag: '', checksums, body }
    return putPart(draft, { type: 'putPart', ...name, uploadId, ...part }, context, n)
  }
  const settings = { contentType: '', metadata: {}, tags: {}, retention: null, legalHold: false }
  const by = { masterKeyId: item.masterKeyId, initiator: operationId, expiresInMs: UPLOAD_KEPT_MS }
  const made = createUpload(
    draft,
    { type: 'createUpload', ...name, ...settings, ...by, checksumAlg: null },
    context,
  )
  if (made.ok) noteRestore(draft, operationId, { uploadId: made.value.uploadId })
  return made
}

function drop(
  draft: Draft,
  about: {
    readonly operationId: string
    readonly bucket: BucketRecord
    readonly item: Extract<RestoreItem, { what: 'dropped' }>
  },
): Accepted<null> {
  const { operationId, bucket, item } = about
  const { uploadId = '' } = restoreOf(draft, operationId)
  const upload = draft.get(objectKeys.upload(bucket.id, item.key, uploadId))
  if (upload !== undefined) giveUp(draft, bucket, upload)
  forget(draft, operationId, 'uploadId')
  return accept(null)
}

function assemble(
  draft: Draft,
  about: {
    readonly operationId: string
    readonly bucket: BucketRecord
    readonly item: Extract<RestoreItem, { what: 'assembled' }>
    readonly n: number
  },
  context: ApplyContext,
): StepReply<unknown> {
  const { operationId, ...version } = about
  const { uploadId = '' } = restoreOf(draft, operationId)
  const made = restoreAssembled(draft, { ...version, uploadId }, context)
  if (made.ok) forget(draft, operationId, 'uploadId')
  return made
}

/** The work of commands that are refused in a bucket under restore; only this one may do it there. */
function unmarked<R extends StepReply<unknown>>(draft: Draft, bucket: BucketRecord, work: () => R): R {
  const { restoring, ...free } = bucket
  draft.put(bucketKeys.bucket(bucket.tenantId, bucket.name), free)
  const reply = work()
  const present = draft.get(bucketKeys.bucket(bucket.tenantId, bucket.name))
  assert(present !== undefined && restoring !== undefined, 'the bucket of a restore stays')
  draft.put(bucketKeys.bucket(bucket.tenantId, bucket.name), { ...present, restoring })
  return reply
}

function operationOf(draft: Draft, operationId: string): LongOperation {
  const operation = draft.get(longOperationKeys.operation(operationId))
  assert(operation !== undefined, 'an operation stays while it is advanced')
  return operation
}

function restoreOf(draft: Draft, operationId: string): BackupRestore {
  const { restore } = operationOf(draft, operationId)
  assert(restore !== undefined, 'a restore stays one')
  return restore
}

function noteRestore(draft: Draft, operationId: string, change: Partial<BackupRestore>): void {
  const restore = { ...restoreOf(draft, operationId), ...change }
  draft.put(longOperationKeys.operation(operationId), { ...operationOf(draft, operationId), restore })
}

function forget(draft: Draft, operationId: string, what: 'filling' | 'uploadId'): void {
  const { [what]: _, ...restore } = restoreOf(draft, operationId)
  draft.put(longOperationKeys.operation(operationId), { ...operationOf(draft, operationId), restore })
}
