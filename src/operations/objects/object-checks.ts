/**
 * The order in which a caller is told "no". Every operation on objects climbs it from the top. [style: errors]
 *
 *   authenticated   the edge, before any operation begins
 *   authorized      `bucketFor`, `keyFor`: by scopes, so that a "no" tells nothing about what exists, then by the bucket's policy
 *   exists          `bucketFor`, `keyFor`, then `objectFor` for what is read or named by its version
 *   precondition    `earlyRefusal` \
 *   quota           `earlyRefusal`  > asked of this node's state before a body is read; decided in the commit
 *   retention       `earlyRefusal` /
 */
import type { ApplyContext } from '../../state-machine/base/view.ts'
import { authorize } from '../../access/authorize.ts'
import type { DataOperationId } from '../../access/base/operation-ids.ts'
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import { Refusal } from '../../base/refusal.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import type { NewVersion } from '../../state-machine/objects/commands.ts'
import type { ObjectRecord, VersionRecord, VersionSettings } from '../../state-machine/versions/records.ts'
import { newVersionFault } from '../../state-machine/objects/new-versions.ts'
import type { InCut } from '../../store/reads/state-reader.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import type { Services } from '../base/services.ts'
import { checkObjectKey } from './object-key.ts'

/** Nothing is refused early because of a date: the clock that counts is that of the log. */
const NO_TIME: ApplyContext = {
  index: 0,
  time: 0,
  confirmedTime: 0,
  orderTime: 0,
  ordinal: 0,
  featureLevel: 0,
}

/** Who asks, and for what. */
export interface Caller {
  readonly principal: AccessKeyPrincipal
  readonly operationId: DataOperationId
}

export interface KeyName {
  readonly bucket: string
  readonly key: string
}

/** `versionId` undefined: the newest version. */
export interface ObjectName extends KeyName {
  readonly versionId: string | undefined
}

interface Reached {
  readonly bucket: string
  readonly prefix: string
  readonly delimiter?: string
}

export interface FoundKey {
  readonly bucket: BucketRecord
  readonly key: string
}

export interface FoundObject {
  readonly bucket: BucketRecord
  readonly object: ObjectRecord
}

/** For operations on many keys: `prefix` is what they reach. `delimiter`: of listings that take one. */
export function bucketFor(
  services: Services,
  { principal, operationId }: Caller,
  { bucket, prefix, delimiter }: Reached,
): BucketRecord {
  authorize(principal, operationId, { bucket, key: prefix, delimiter }, services.state)
  return findBucket(services, principal.tenantId, bucket)
}

/** A name with a version is asked for with it. */
export function keyFor(
  services: Services,
  { principal, operationId }: Caller,
  name: KeyName & Partial<ObjectName>,
): FoundKey {
  authorize(principal, operationId, name, services.state)
  const bucket = findBucket(services, principal.tenantId, name.bucket)
  return { bucket, key: checkObjectKey(name.key) }
}

/** What is set along with a new version is asked for as if it were set by itself. Throws Refusal access_denied. */
export function authorizeSettings(
  services: Services,
  principal: AccessKeyPrincipal,
  { bucket, key }: KeyName,
  { tags, retention, legalHold }: VersionSettings,
): void {
  const ask = (operationId: DataOperationId) =>
    authorize(principal, operationId, { bucket, key }, services.state)
  if (Object.keys(tags).length > 0) ask('setObjectTags')
  if (retention !== null) ask('setObjectRetention')
  if (legalHold) ask('setObjectLegalHold')
}

/** Throws Refusal not_found; method_not_allowed for a delete marker that was asked for by its id. */
export function objectFor(services: Services, caller: Caller, name: ObjectName, inCut?: InCut): FoundObject {
  const { bucket, key } = keyFor(services, caller, name)
  const { versionId } = name
  const found = findVersion(services, { bucket, key }, versionId, inCut)
  if (found?.kind === 'object') return { bucket, object: found }
  const what = versionId === undefined ? `Object "${key}"` : `Version "${versionId.slice(0, 40)}" of "${key}"`
  if (found === undefined) throw new Refusal('not_found', `${what} does not exist in bucket "${bucket.name}"`)
  const headers = { 'x-service-delete-marker': 'true', 'x-service-version-id': clientVersionId(found) }
  if (versionId === undefined)
    throw new Refusal('not_found', `${what} was deleted from bucket "${bucket.name}"`, { headers })
  throw new Refusal('method_not_allowed', `${what} is a delete marker: it can only be deleted`, {
    headers: { ...headers, allow: 'DELETE' },
  })
}

/**
 * Undefined where there is no such version, and for whatever is no version id. One that becomes the newest because a newer
 * one goes moves from row to row: what the first look missed on its way the second one sees.
 */
function findVersion(
  { state }: Services,
  { bucket, key }: FoundKey,
  versionId: string | undefined,
  inCut: InCut | undefined,
): VersionRecord | undefined {
  const look = () =>
    versionId === undefined
      ? state.newestVersion(bucket, key, inCut)
      : state.version(bucket, key, versionId, inCut)
  return look() ?? look()
}

/** How clients name a version. */
export function clientVersionId({ isNull, versionId }: VersionRecord): string {
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
  const fault = newVersionFault(services.state.view, { bucket, requested, size }, NO_TIME)
  return fault === null ? null : new Refusal(fault.code, fault.message)
}
