/**
 * The order of checks of every operation on objects, and the checks that they share. [style: errors]
 *
 *   authenticated   the edge, before any operation starts
 *   authorized      `authorize`, before the body of the operation: by scopes, so that a refusal does not reveal what exists, then
 *                   by the bucket's policy
 *   exists          `findKey`, then `findObject` for what is read or named by its version
 *   precondition    `earlyRefusal` \
 *   quota           `earlyRefusal`  > asked of this node's state before a body is read; decided in the commit
 *   retention       `earlyRefusal` /
 */
import type { KeyObject } from 'node:crypto'
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import { Refusal } from '../../base/refusal.ts'
import type { ApplyContext } from '../../state-machine/base/view.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import type { NewVersion } from '../../state-machine/objects/commands.ts'
import { newVersionFault } from '../../state-machine/objects/new-versions.ts'
import type { ObjectRecord, VersionRecord } from '../../state-machine/versions/records.ts'
import type { InCut } from '../../store/reads/version-lookup.ts'
import type { Services } from '../base/services.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import { checkObjectKey } from './object-key.ts'
import { lookUpVersion } from '../../store/reads/version-lookup.ts'

/** Nothing is refused early because of a date: the clock that counts is that of the log. */
const NO_TIME: Omit<ApplyContext, 'featureLevel'> = {
  index: 0,
  time: 0,
  confirmedTime: 0,
  orderTime: 0,
  ordinal: 0,
}

export interface KeyName {
  readonly bucket: string
  readonly key: string
}

/** `versionId` undefined: the newest version. */
export interface ObjectName extends KeyName {
  readonly versionId: string | undefined
}

/** `customerKey`: that its client sealed it with, undefined: none was sent. */
export interface KeyedObjectName extends ObjectName {
  readonly customerKey?: KeyObject | undefined
}

export interface FoundKey {
  readonly bucket: BucketRecord
  readonly key: string
}

export interface FoundObject {
  readonly bucket: BucketRecord
  readonly object: ObjectRecord
}

/** Throws Refusal not_found, invalid_key, in this order. */
export function findKey(services: Services, { tenantId }: AccessKeyPrincipal, name: KeyName): FoundKey {
  const bucket = findBucket(services, tenantId, name.bucket)
  return { bucket, key: checkObjectKey(name.key) }
}

/** Throws Refusal not_found, invalid_key; method_not_allowed for a delete marker that is requested by its id. */
export function findObject(
  services: Services,
  principal: AccessKeyPrincipal,
  name: ObjectName,
  inCut?: InCut,
): FoundObject {
  const { bucket, key } = findKey(services, principal, name)
  const { versionId } = name
  const found = findVersion(services, { bucket, key }, versionId, inCut)
  if (found?.kind === 'object') return { bucket, object: found }
  const what = versionId === undefined ? `Object "${key}"` : `Version "${versionId.slice(0, 40)}" of "${key}"`
  const missing = versionId === undefined ? 'key' : 'version'
  if (found === undefined)
    throw new Refusal('not_found', `${what} does not exist in bucket "${bucket.name}"`, { missing })
  const headers = {
    'x-service-delete-marker': 'true',
    'x-service-version-id': clientVersionId(found),
    // Another site that replicates to this bucket judges by them which of two changes is later.
    'x-service-deleted-at': new Date(found.lastModified).toUTCString(),
    ...(found.replicaOf === undefined ? {} : { 'x-service-replica-of': found.replicaOf }),
  }
  if (versionId === undefined)
    throw new Refusal('not_found', `${what} was deleted from bucket "${bucket.name}"`, { headers, missing })
  throw new Refusal('method_not_allowed', `${what} is a delete marker: it can only be deleted`, {
    headers: { ...headers, allow: 'DELETE' },
  })
}

/**
 * Undefined where there is no such version, and for a text that is no version id. A version that becomes the newest because a
 * newer one is removed moves from row to row: the second look finds what the first one missed during the move.
 */
function findVersion(
  { state }: Services,
  { bucket, key }: FoundKey,
  versionId: string | undefined,
  inCut: InCut | undefined,
): VersionRecord | undefined {
  const look = () => lookUpVersion(state, bucket, { key, versionId: versionId ?? null }, inCut)
  return look() ?? look()
}

/** How clients name a version. */
export function clientVersionId({ isNull, versionId }: Pick<VersionRecord, 'isNull' | 'versionId'>): string {
  return isNull ? 'null' : versionId
}

/** What the commit would refuse now it would most likely refuse later. Throws Refusal. */
export function refuseEarly(
  services: Services,
  bucket: BucketRecord,
  requested: NewVersion,
  size: number,
): void {
  const refusal = earlyRefusal(services, bucket, requested, size)
  if (refusal !== null) throw refusal
}

export function earlyRefusal(
  services: Services,
  bucket: BucketRecord,
  requested: NewVersion,
  size: number,
): Refusal | null {
  const featureLevel = services.cluster.membership.stateLevel
  const context = { ...NO_TIME, featureLevel }
  const fault = newVersionFault(services.state, { bucket, requested, size }, context)
  if (fault === null) return null
  const { code, message, missing } = fault
  return new Refusal(code, message, missing === undefined ? {} : { missing })
}
