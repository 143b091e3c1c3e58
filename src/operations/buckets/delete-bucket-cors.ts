/** deleteBucketCORS: authorize -> exists -> commit; that there were none is no error. */
import { authorize } from '../../access/authorize.ts'
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import type { Services } from '../base/services.ts'
import { settle } from '../../commands/settle.ts'
import { findBucket } from './find-bucket.ts'

export async function deleteBucketCORS(
  services: Services,
  principal: AccessKeyPrincipal,
  input: { readonly bucket: string },
): Promise<void> {
  authorize(principal, 'deleteBucketCORS', { bucket: input.bucket }, services.state)
  const { tenantId, name } = findBucket(services, principal.tenantId, input.bucket)
  settle(await services.propose({ type: 'deleteBucketCors', tenantId, name }))
}
