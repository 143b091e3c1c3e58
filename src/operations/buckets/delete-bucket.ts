/** deleteBucket: authorize -> exists -> commit; that it is empty is decided in the commit. */
import { authorize } from '../../access/authorize.ts'
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import type { Services } from '../base/services.ts'
import { settle } from '../../commands/settle.ts'
import { findBucket } from './find-bucket.ts'

export async function deleteBucket(
  services: Services,
  principal: AccessKeyPrincipal,
  input: { readonly bucket: string },
): Promise<void> {
  authorize(principal, 'deleteBucket', { bucket: input.bucket }, services.state)
  const { name } = findBucket(services, principal.tenantId, input.bucket)
  settle(await services.propose({ type: 'deleteBucket', tenantId: principal.tenantId, name }))
}
