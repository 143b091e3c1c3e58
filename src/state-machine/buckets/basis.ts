/**
 * What the authorization of a change rested on, where its request passed no read barrier. [record 66]
 *
 * Owns: the question whether that still holds. Knows nothing of: scopes, which follow from the version of the key, and what a policy means.
 * Rule: a bucket of this id and versioning that has no policy is all that such a request may rest on, so it holds or it does not, regardless of how
 * old the rows were that the gateway saw, and of what was set and removed in between.
 */
import type { TenantId } from '../base/record-ids.ts'
import { isKeyPart } from '../base/row-key.ts'
import type { View } from '../base/view.ts'
import { bucketKeys } from './keys.ts'
import type { BucketRecord } from './records.ts'

export interface Basis {
  /** A bucket that was deleted and made again has another one. */
  readonly bucketId: BucketRecord['id']
  /** What the answer says of the new version follows from it. */
  readonly versioning: BucketRecord['versioning']
}

interface BucketName {
  readonly tenantId: TenantId
  readonly bucket: string
}

/** Null: there is no such bucket, or it has a policy, so its requests pass a barrier. `bucket`: any name. */
export function basisOf(view: View, { tenantId, bucket }: BucketName): Basis | null {
  const found = isKeyPart(bucket) ? view.get(bucketKeys.bucket(tenantId, bucket)) : undefined
  if (found === undefined || view.get(bucketKeys.bucketPolicy(found.id)) !== undefined) return null
  return { bucketId: found.id, versioning: found.versioning }
}

export function holds(view: View, name: BucketName, { bucketId, versioning }: Basis): boolean {
  const present = basisOf(view, name)
  return present?.bucketId === bucketId && present.versioning === versioning
}
