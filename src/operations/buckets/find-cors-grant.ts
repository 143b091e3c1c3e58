/**
 * What the rules of a bucket say to a page.
 *
 * Rule: for callers who have proved that they may hear of the bucket; a bucket that is not there and one without rules
 * are the same answer.
 */
import { type CorsGrant, type CorsQuestion, matchCors } from '../../access/cors-match.ts'
import type { TenantId } from '../../state-machine/base/record-ids.ts'
import type { Services } from '../base/services.ts'
import { bucketNameFault } from './bucket-name.ts'

export function findCorsGrant(
  { state }: Services,
  place: { readonly tenantId: TenantId; readonly bucket: string },
  question: CorsQuestion,
): CorsGrant | null {
  const { tenantId, bucket: name } = place
  const bucket = bucketNameFault(name) === null ? state.bucket(tenantId, name) : undefined
  const cors = bucket === undefined ? undefined : state.cors(bucket)
  return cors === undefined ? null : matchCors(cors.rules, question)
}
