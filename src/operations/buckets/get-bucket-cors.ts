/** getBucketCORS: authorize -> exists -> rules were set. */
import { authorize } from '../../access/authorize.ts'
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import { Refusal } from '../../base/refusal.ts'
import type { CorsRecord } from '../../state-machine/buckets/records.ts'
import type { Services } from '../base/services.ts'
import { findBucket } from './find-bucket.ts'

export async function getBucketCORS(
  services: Services,
  principal: AccessKeyPrincipal,
  input: { readonly bucket: string },
): Promise<CorsRecord> {
  authorize(principal, 'getBucketCORS', { bucket: input.bucket }, services.state)
  const bucket = findBucket(services, principal.tenantId, input.bucket)
  const cors = services.state.cors(bucket)
  if (cors === undefined) throw new Refusal('not_found', `Bucket "${bucket.name}" has no CORS rules`)
  return cors
}
