/**
 * getBucketNotifications: authorize -> exists -> its configs, none when there are none. [native: Notification configuration]
 *
 * Rule: the path and query of a target URL may hold a secret, so only keys that may write in the whole bucket see them. [decisions 17]
 */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { meets } from '../../access/authorize.ts'
import { accessKey } from '../../access/rights.ts'
import { hooksOf } from '../../state-machine/events/hooks.ts'
import type { HookRecord } from '../../state-machine/events/records.ts'
import { dataOperation } from '../base/operation.ts'
import { bucketTarget } from '../base/targets.ts'
import { findBucket } from '../buckets/find-bucket.ts'

const SEES_TARGETS = accessKey('write', 'whole-bucket')

export interface ShownConfig {
  /** `url` of callers that do not see the target: its origin. */
  readonly hook: HookRecord
}

export const getBucketNotifications = dataOperation(
  {
    id: 'getBucketNotifications',
    requires: accessKey('read', 'bucket'),
    s3Action: S3_ACTIONS.getBucketNotification,
    refuses: [],
    target: bucketTarget,
  },
  async (services, principal, input: { readonly bucket: string }): Promise<readonly ShownConfig[]> => {
    const hooks = hooksOf(services.state, findBucket(services, principal.tenantId, input.bucket))
    const isWhole = meets(principal, SEES_TARGETS, bucketTarget(input))
    return hooks.map((hook) => ({ hook: isWhole ? hook : { ...hook, url: new URL(hook.url).origin } }))
  },
)
