/**
 * Takes the user metadata out of a listing where its reader may not read the object: what `headObject` refuses is not listed either.
 *
 * Rule: the scope of a listing covers all its keys, so only the policy of the bucket can make a difference between them.
 */
import { setImmediate } from 'node:timers/promises'
import { authorize } from '../../access/authorize.ts'
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import { refusalOf } from '../../base/refusal.ts'
import { bucketPolicyOf } from '../../state-machine/buckets/bucket-policies.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import type { ListedObject } from '../../state-machine/versions/listed-version.ts'
import type { Services } from '../base/services.ts'
import { versionTarget } from '../base/targets.ts'
import { headObject } from './object-lookups.ts'

/** A policy may take a while for each key: others get their turn in between. */
const ASKED_AT_ONCE_MAX = 32

interface Listed {
  readonly bucket: BucketRecord
  readonly objects: readonly ListedObject[]
}

export async function withReadableMetadata(
  services: Services,
  principal: AccessKeyPrincipal,
  { bucket, objects }: Listed,
): Promise<readonly ListedObject[]> {
  if (bucketPolicyOf(services.state, bucket.tenantId, bucket.name) === undefined) return objects
  const shown: ListedObject[] = []
  for (const object of objects) {
    if (shown.length % ASKED_AT_ONCE_MAX === ASKED_AT_ONCE_MAX - 1) await setImmediate()
    const { metadata: _, ...line } = object
    const target = versionTarget({ bucket: bucket.name, key: object.key, versionId: undefined })
    const refusal = refusalOf(() => authorize(principal, headObject, target, services.state))
    shown.push(refusal === null ? object : line)
  }
  return shown
}
