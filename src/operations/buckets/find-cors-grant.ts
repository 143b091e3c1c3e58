/**
 * What the rules of a bucket say to a page.
 *
 * Rule: for callers that have proved that they may learn of the bucket; a bucket that is not there and one without rules
 * are the same answer.
 */
import { type CorsGrant, type CorsQuestion, matchCors } from '../../access/cors-match.ts'
import type { TenantId } from '../../state-machine/base/record-ids.ts'
import type { Services } from '../base/services.ts'
import { bucketNameFault } from './bucket-name.ts'
import { bucketKeys } from '../../state-machine/buckets/keys.ts'
import { corsOf } from '../../state-machine/buckets/cors.ts'

export function findCorsGrant(
  { state }: Services,
  place: { readonly tenantId: TenantId; readonly bucket: string },
  question: CorsQuestion,
): CorsGrant | null {
  const { tenantId, bucket: name } = place
  const bucket = bucketNameFault(name) === null ? state.get(bucketKeys.bucket(tenantId, name)) : undefined
  const cors = bucket === undefined ? undefined : corsOf(state, bucket)
  return cors === undefined ? null : matchCors(cors.rules, question)
}
