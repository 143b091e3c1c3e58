/** deleteObject: authorize -> bucket exists -> commit. A key that is not there is no error: repeating is safe. [decisions 16] */
import { authorize } from '../../access/authorize.ts'
import type { AccessKeyPrincipal } from '../../access/principal.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import type { Services } from '../services.ts'
import { settle } from '../settle.ts'
import { isNullVersion, type ObjectName } from './find-object.ts'
import { checkObjectKey } from './object-key.ts'

export async function deleteObject(
  services: Services,
  principal: AccessKeyPrincipal,
  input: ObjectName,
): Promise<void> {
  const { tenantId } = principal
  authorize(principal, 'deleteObject', { bucket: input.bucket, key: input.key })
  const bucket = findBucket(services, tenantId, input.bucket)
  const key = checkObjectKey(input.key)
  // An unversioned bucket has no other version that could be deleted.
  if (!isNullVersion(input.versionId)) return
  settle(
    await services.propose({
      type: 'deleteObject',
      tenantId,
      bucket: bucket.name,
      key,
      versionId: null,
      ifMatch: null,
    }),
  )
}
