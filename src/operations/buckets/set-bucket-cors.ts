/** setBucketCORS: authorize -> exists -> the rules are good -> commit; all rules are replaced. [decisions 2] */
import { checkCorsRules, type CorsRuleInput } from '../../access/cors-rules.ts'
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { settle } from '../../commands/settle.ts'
import type { CorsRecord } from '../../state-machine/buckets/records.ts'
import { dataOperation } from '../base/operation.ts'
import { bucketTarget } from '../base/targets.ts'
import { findBucket } from './find-bucket.ts'

export const setBucketCORS = dataOperation(
  {
    id: 'setBucketCORS',
    requires: accessKey('admin', 'whole-bucket'),
    s3Action: S3_ACTIONS.putBucketCORS,
    refuses: ['quota_exceeded'],
    target: bucketTarget,
  },
  async (
    services,
    principal,
    input: { readonly bucket: string; readonly rules: readonly CorsRuleInput[] },
  ): Promise<CorsRecord> => {
    const { tenantId, name } = findBucket(services, principal.tenantId, input.bucket)
    const rules = checkCorsRules(input.rules)
    return settle(await services.propose({ type: 'setBucketCors', tenantId, name, rules }))
  },
)
