/** deleteBucketNotifications: authorize -> exists -> commit. Clearing what is clear is no error. */
import { authorize } from '../../access/authorize.ts'
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import type { Services } from '../base/services.ts'
import { settle } from '../../commands/settle.ts'

export async function deleteBucketNotifications(
  services: Services,
  principal: AccessKeyPrincipal,
  input: { readonly bucket: string },
): Promise<void> {
  authorize(principal, 'deleteBucketNotifications', { bucket: input.bucket }, services.state)
  const { tenantId, name: bucket } = findBucket(services, principal.tenantId, input.bucket)
  settle(await services.propose({ type: 'setNotifications', tenantId, bucket, configs: [] }))
}
