/** getBucketNotifications: authorize -> exists -> its configs, none when there are none. [native: Notification configuration] */
import { authorize } from '../../access/authorize.ts'
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import { hooksOf } from '../../state-machine/events/hooks.ts'
import type { HookRecord } from '../../state-machine/events/records.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import type { Services } from '../base/services.ts'

export async function getBucketNotifications(
  services: Services,
  principal: AccessKeyPrincipal,
  input: { readonly bucket: string },
): Promise<readonly HookRecord[]> {
  authorize(principal, 'getBucketNotifications', { bucket: input.bucket }, services.state)
  return hooksOf(services.state.view, findBucket(services, principal.tenantId, input.bucket))
}
