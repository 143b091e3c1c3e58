/** setBucketVersioning: authorize -> exists -> the state is one -> commit, which knows what may follow what. */
import { authorize } from '../../access/authorize.ts'
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import type { Services } from '../base/services.ts'
import { settle } from '../../commands/settle.ts'
import { findBucket } from './find-bucket.ts'
import { versioningState } from './versioning-state.ts'

export async function setBucketVersioning(
  services: Services,
  principal: AccessKeyPrincipal,
  input: { readonly bucket: string; readonly status: string },
): Promise<BucketRecord> {
  authorize(principal, 'setBucketVersioning', { bucket: input.bucket }, services.state)
  const { tenantId, name } = findBucket(services, principal.tenantId, input.bucket)
  const versioning = versioningState(input.status)
  return settle(await services.propose({ type: 'setBucketVersioning', tenantId, name, versioning }))
}
