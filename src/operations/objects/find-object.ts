/**
 * The first half of every read of an object: bucket, then key, in the caller's tenant; and the tenant whose keys open the bytes.
 *
 * Rule: `versionId` other than the null version does not exist while buckets are unversioned.
 */
import type { AccessKeyPrincipal } from '../../access/principal.ts'
import { Refusal } from '../../refusal.ts'
import type { BucketRecord, ObjectRecord } from '../../state-machine/records.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import type { Services } from '../services.ts'
import { checkObjectKey } from './object-key.ts'

export interface ObjectName {
  readonly bucket: string
  readonly key: string
  readonly versionId: string | undefined
}

export interface FoundObject {
  readonly bucket: BucketRecord
  readonly object: ObjectRecord
}

export function findObject(
  services: Services,
  principal: AccessKeyPrincipal,
  input: ObjectName,
): FoundObject {
  const bucket = findBucket(services, principal.tenantId, input.bucket)
  const key = checkObjectKey(input.key)
  const object = isNullVersion(input.versionId) ? services.state.object(bucket, key) : undefined
  if (!object) {
    throw new Refusal('not_found', `Object "${key}" does not exist in bucket "${bucket.name}"`)
  }
  return { bucket, object }
}

export const isNullVersion = (versionId: string | undefined): boolean =>
  versionId === undefined || versionId === 'null'
