/** getBucket: authorize -> find. */
import { authorize } from '../../access/authorize.ts'
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import type { Services } from '../base/services.ts'
import { findBucket } from './find-bucket.ts'

export async function getBucket(
  services: Services,
  principal: AccessKeyPrincipal,
  input: { readonly bucket: string },
): Promise<BucketRecord> {
  authorize(principal, 'getBucket', { bucket: input.bucket }, services.state)
  return findBucket(services, principal.tenantId, input.bucket)
}
