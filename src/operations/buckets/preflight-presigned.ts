/**
 * preflightPresigned: authorize for what the page asks about -> a rule of the bucket fits. [AWS S3 API reference: Preflight requests]
 *
 * No object is looked at: a preflight says whether the page may send its request, never what the answer would be.
 */
import { authorize } from '../../access/authorize.ts'
import type { CorsGrant, CorsQuestion } from '../../access/cors-match.ts'
import { type DataRights, NOTHING } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import { dataOperation } from '../base/operation.ts'
import { noTarget } from '../base/targets.ts'
import { findCorsGrant } from './find-cors-grant.ts'

interface PresignedQuestion extends CorsQuestion {
  readonly bucket: string
  /** '' for none. */
  readonly key: string
  /** Of the operation that the page wants to ask for. */
  readonly rights: DataRights
}

export const preflightPresigned = dataOperation(
  {
    id: 'preflightPresigned',
    // It is authorized as the operation that the URL is for.
    requires: NOTHING,
    s3Action: null,
    refuses: [],
    target: noTarget,
  },
  async (services, principal, input: PresignedQuestion): Promise<CorsGrant> => {
    const { bucket, key, rights, ...question } = input
    authorize(principal, rights, key === '' ? { bucket } : { bucket, key }, services.state)
    const grant = findCorsGrant(services, { tenantId: principal.tenantId, bucket }, question)
    if (grant !== null) return grant
    throw new Refusal(
      'access_denied',
      `No CORS rule of bucket "${bucket.slice(0, 80)}" lets pages of "${question.origin.slice(0, 200)}" send this ${question.method} with these headers`,
    )
  },
)
