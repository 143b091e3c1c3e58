/** setBucketCORS: authorize -> exists -> the rules are good -> commit; all rules are replaced. [decisions 2] */
import { authorize } from '../../access/authorize.ts'
import { checkCorsRules, type CorsRuleInput } from '../../access/cors-rules.ts'
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import type { CorsRecord } from '../../state-machine/buckets/records.ts'
import type { Services } from '../base/services.ts'
import { settle } from '../../commands/settle.ts'
import { findBucket } from './find-bucket.ts'

export async function setBucketCORS(
  services: Services,
  principal: AccessKeyPrincipal,
  input: { readonly bucket: string; readonly rules: readonly CorsRuleInput[] },
): Promise<CorsRecord> {
  authorize(principal, 'setBucketCORS', { bucket: input.bucket }, services.state)
  const { tenantId, name } = findBucket(services, principal.tenantId, input.bucket)
  const rules = checkCorsRules(input.rules)
  return settle(await services.propose({ type: 'setBucketCors', tenantId, name, rules }))
}
