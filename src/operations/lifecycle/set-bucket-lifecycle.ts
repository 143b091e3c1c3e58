/** setBucketLifecycle: authorize -> exists -> the rules are good -> commit; all rules are replaced. */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { settle } from '../../commands/settle.ts'
import type { LifecycleRecord } from '../../state-machine/lifecycle/records.ts'
import { dataOperation } from '../base/operation.ts'
import { bucketTarget } from '../base/targets.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import { checkLifecycleRules, type LifecycleRuleInput } from './lifecycle-rules.ts'

export const setBucketLifecycle = dataOperation(
  {
    id: 'setBucketLifecycle',
    requires: accessKey('admin', 'whole-bucket'),
    s3Action: S3_ACTIONS.putLifecycle,
    refuses: ['invalid_tag', 'quota_exceeded', 'precondition_failed'],
    target: bucketTarget,
  },
  async (
    services,
    principal,
    input: { readonly bucket: string; readonly rules: readonly LifecycleRuleInput[] },
  ): Promise<LifecycleRecord> => {
    const { tenantId, name } = findBucket(services, principal.tenantId, input.bucket)
    const rules = checkLifecycleRules(input.rules)
    return settle(await services.propose({ type: 'setBucketLifecycle', tenantId, name, rules }))
  },
)
