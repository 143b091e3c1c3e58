/**
 * Objects: put and delete.
 *
 * Owns: the effect of a delete in each state of versioning, by a request or by a lifecycle rule. Knows nothing of: rows of versions and bodies.
 * Rule: nothing is written until all checks have passed; no command removes a locked version.
 */
import type { ApplyContext, View } from '../base/view.ts'
import {
  bodyFault,
  type ChunksGone,
  discardBody,
  type UploadSessionEnded,
  writeBody,
} from '../bodies/bodies.ts'
import { tooMany } from '../base/batch-bound.ts'
import type { BucketRecord } from '../buckets/records.ts'
import type { Deleted, ItemRefused, ObjectCommand, ObjectReplies } from './commands.ts'
import type { DeleteMarkerRecord, VersionRecord } from '../versions/records.ts'
import type { Draft } from '../base/draft.ts'
import { announce } from '../events/events.ts'
import { earlierAnswer, keepAnswer } from './idempotency.ts'
import {
  bucketFor,
  countVersions,
  lockedFault,
  newVersionFault,
  placeOf,
  putVersion,
} from './new-versions.ts'
import { preconditionFault } from './preconditions.ts'
import { quotaFault } from '../usage/quota.ts'
import { lateReplicaFault } from '../sites/late-replicas.ts'
import { metered } from '../usage/record-bytes.ts'
import { type Accepted, accept, type Refused } from '../base/reply.ts'
import { versionIdAt } from '../base/version-id.ts'
import { currentObject, findVersion, NULL_VERSION, VersionChain } from '../versions/versions.ts'

const NOTHING_DELETED: Deleted = { existed: false, version: null, isMade: false }

export function putObject(
  draft: Draft,
  command: Extract<ObjectCommand, { type: 'putObject' }>,
  context: ApplyContext,
): Accepted<ObjectReplies['putObject']> | Refused | ChunksGone | UploadSessionEnded {
  const target = bucketFor(draft, command)
  if (!target.ok) return target
  const bucket = target.value
  const { key, size, idempotency: requested } = command
  const earlier = requested === null ? null : earlierAnswer(draft, { bucket: bucket.id, key, requested })
  if (earlier !== null) return 'ok' in earlier ? earlier : accept({ object: earlier, replayed: true })
  const fault =
    newVersionFault(draft, { bucket, requested: command, size }, context) ?? bodyFault(draft, command)
  if (fault !== null) return fault
  const id = versionIdAt(context)
  const body = writeBody(draft, { bucket, id }, command.body, context)
  const { etag, checksums } = command
  const object = putVersion(
    draft,
    { bucket, requested: command, made: { id, size, etag, checksums, composite: undefined, body } },
    context,
  )
  announce(draft, bucket, { eventName: 's3:ObjectCreated:Put', version: object }, context)
  if (requested !== null) keepAnswer(draft, { bucket: bucket.id, requested, object }, context)
  return accept({ object, replayed: false })
}

/** Succeeds also if the object does not exist. */
export function deleteObject(
  draft: Draft,
  command: Extract<ObjectCommand, { type: 'deleteObject' }>,
  context: ApplyContext,
): Accepted<Deleted> | Refused {
  const target = bucketFor(draft, command)
  if (!target.ok) return target
  return deleteOne(draft, { ...command, bucket: target.value, n: 0 }, context)
}

/** Decides each item separately: a refused item does not affect the others. */
export function deleteObjects(
  draft: Draft,
  command: Extract<ObjectCommand, { type: 'deleteObjects' }>,
  context: ApplyContext,
): Accepted<readonly (Deleted | ItemRefused)[]> | Refused {
  const fault = tooMany('delete objects', command.items.length)
  if (fault !== null) return fault
  const results: (Deleted | ItemRefused)[] = []
  for (const [n, item] of command.items.entries()) {
    if (item.refused !== undefined) {
      results.push(item.refused)
      continue
    }
    const target = bucketFor(draft, { ...command, key: item.key })
    const { ifMatch = null } = item
    const { bypassGovernance = false } = command
    const deletion = { ...item, ifMatch, bypassGovernance, n }
    const reply = target.ok ? deleteOne(draft, { ...deletion, bucket: target.value }, context) : target
    if (reply.ok) results.push(reply.value)
    else if (reply.code === 'not_found' || reply.code === 'tenant_disabled') return reply
    else results.push({ code: reply.code, message: reply.message })
  }
  return accept(results)
}

/** The names of the events of a deletion. */
const DELETED_BY = {
  request: { gone: 's3:ObjectRemoved:Delete', hidden: 's3:ObjectRemoved:DeleteMarkerCreated' },
  lifecycle: {
    gone: 's3:LifecycleExpiration:Delete',
    hidden: 's3:LifecycleExpiration:DeleteMarkerCreated',
  },
} as const

interface DeletedVersion {
  readonly bucket: BucketRecord
  readonly key: string
  readonly chain: VersionChain
  readonly bypassGovernance?: boolean
  /** The mark of a deletion of another site: it is not sent on. */
  readonly replicaOf?: string
  /** The request named the version. */
  readonly isNamed?: boolean
  /** Absent: a request. */
  readonly by?: keyof typeof DELETED_BY
  /** Its position in the command: each delete marker needs an id of its own. */
  readonly n: number
}

interface Deletion extends Omit<DeletedVersion, 'chain'> {
  readonly versionId: string | null
  readonly ifMatch: readonly string[] | null
}

function deleteOne(draft: Draft, deletion: Deletion, context: ApplyContext): Accepted<Deleted> | Refused {
  const { bucket, key, versionId, replicaOf } = deletion
  const sent = {
    bucketId: bucket.id,
    key,
    mark: versionId === null ? replicaOf : undefined,
    isDeletion: true,
  }
  const fault = conditionFault(draft, deletion) ?? lateReplicaFault(draft, sent, context)
  if (fault !== null) return fault
  const chain = new VersionChain(draft, bucket.id, key)
  if (versionId !== null || bucket.versioning === 'Unversioned') {
    const found = chain.find(versionId ?? NULL_VERSION)
    return found === undefined
      ? accept(NOTHING_DELETED)
      : removeVersion(draft, { ...deletion, chain, found, isNamed: versionId !== null }, context)
  }
  return hideVersions(draft, { ...deletion, chain }, context)
}

function conditionFault(view: View, { bucket: { id }, key, versionId, ifMatch }: Deletion): Refused | null {
  if (ifMatch === null) return null
  const meant = versionId === null ? currentObject(view, id, key) : findVersion(view, id, key, versionId)
  return preconditionFault({ ifMatch, ifNoneMatch: null }, meant?.kind === 'object' ? meant : undefined)
}

/** Removes one version for good, unless it is locked. */
export function removeVersion(
  draft: Draft,
  {
    bucket,
    chain,
    found,
    n,
    bypassGovernance,
    by = 'request',
    replicaOf,
    isNamed = false,
  }: DeletedVersion & { readonly found: VersionRecord },
  context: ApplyContext,
): Accepted<Deleted> | Refused {
  const locked = lockedFault(found, context, bypassGovernance)
  if (locked !== null) return locked
  chain.remove(found)
  countVersions(draft, bucket, chain)
  if (found.kind === 'object') discardBody(draft, placeOf(bucket, found), found.body, context)
  const eventName = DELETED_BY[by].gone
  announce(
    draft,
    bucket,
    { eventName, version: found, n, isNamed, isReplica: replicaOf !== undefined },
    context,
  )
  return accept({ existed: true, version: found, isMade: false })
}

function growthBy({ metadataBytes = 0 }: Pick<VersionRecord, 'metadataBytes'>, replaced?: VersionRecord) {
  return {
    versions: replaced === undefined ? 1 : 0,
    metadataBytes: metadataBytes - (replaced?.metadataBytes ?? 0),
  }
}

/** Makes a delete marker, which hides all versions; in a suspended bucket it replaces the null version. */
export function hideVersions(
  draft: Draft,
  { bucket, chain, key, n, bypassGovernance, by = 'request', replicaOf }: DeletedVersion,
  context: ApplyContext,
): Accepted<Deleted> | Refused {
  const isNull = bucket.versioning === 'Suspended'
  const replaced = isNull ? chain.find(NULL_VERSION) : undefined
  const locked = replaced === undefined ? null : lockedFault(replaced, context, bypassGovernance)
  if (locked !== null) return locked
  const existed = chain.newest?.kind === 'object'
  const share = metered(context, { key })
  // A marker that hides an object deletes it, so it is never refused; one that hides nothing only adds a record.
  const fault = existed ? null : quotaFault(draft, bucket.tenantId, growthBy(share, replaced))
  if (fault !== null) return fault
  if (replaced !== undefined) chain.remove(replaced)
  const marker: DeleteMarkerRecord = chain.push({
    kind: 'deleteMarker',
    key,
    versionId: versionIdAt(context, n),
    isNull,
    lastModified: context.time,
    older: null,
    newer: null,
    ...(replicaOf === undefined ? {} : { replicaOf }),
    ...share,
  })
  countVersions(draft, bucket, chain)
  if (replaced?.kind === 'object') discardBody(draft, placeOf(bucket, replaced), replaced.body, context)
  const eventName = DELETED_BY[by].hidden
  announce(draft, bucket, { eventName, version: marker, n, isReplica: replicaOf !== undefined }, context)
  return accept({ existed, version: marker, isMade: true })
}
