/**
 * preflightSigned: the method is one of signed URLs -> authorize for what the page asks about -> a rule of the bucket fits.
 * [native: Signed URL token 5]
 *
 * No object is looked at: a preflight says whether the page may send its request, never what the answer would be.
 */
import { authorize } from '../../access/authorize.ts'
import type { SignedUrlPrincipal } from '../../access/base/signed-url.ts'
import type { CorsGrant, CorsQuestion } from '../../access/cors-match.ts'
import { NOTHING } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import { dataOperation } from '../base/operation.ts'
import { keyTarget, noTarget } from '../base/targets.ts'
import { findCorsGrant } from '../buckets/find-cors-grant.ts'
import type { KeyName } from '../objects/object-checks.ts'
import { getSigned } from './get-signed.ts'
import { putSigned } from './put-signed.ts'

/** A URL for GET is one for HEAD. */
const AUTHORIZED_AS: ReadonlyMap<string, typeof getSigned | typeof putSigned> = new Map<
  string,
  typeof getSigned | typeof putSigned
>([
  ['GET', getSigned],
  ['HEAD', getSigned],
  ['PUT', putSigned],
])

export const preflightSigned = dataOperation(
  {
    id: 'preflightSigned',
    // It is authorized as getSigned or putSigned, once its method says which.
    requires: NOTHING,
    s3Action: null,
    refuses: [],
    target: noTarget,
  },
  async (services, principal: SignedUrlPrincipal, input: KeyName & CorsQuestion): Promise<CorsGrant> => {
    const { bucket, key, ...question } = input
    const { origin, method } = question
    const operation = AUTHORIZED_AS.get(method)
    if (operation === undefined)
      throw new Refusal('signed_url_mismatch', `No signed URL is for the method "${method.slice(0, 40)}"`)
    authorize(principal, operation, keyTarget({ bucket, key }), services.state)
    const grant = findCorsGrant(services, { tenantId: principal.tenantId, bucket }, question)
    if (grant !== null) return grant
    throw new Refusal(
      'access_denied',
      `No CORS rule of bucket "${bucket}" lets pages of "${origin.slice(0, 200)}" send this ${method} with these headers`,
    )
  },
)
