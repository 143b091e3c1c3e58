/**
 * preflightSigned: authorized for what the page asks about -> a rule of the bucket fits. [native: Signed URL token 5]
 *
 * No object is looked at: a preflight tells whether the page may ask, never what it would hear.
 */
import { authorize } from '../../access/authorize.ts'
import type { CorsGrant, CorsQuestion } from '../../access/cors-match.ts'
import type { SignedUrlPrincipal } from '../../access/base/signed-url.ts'
import { Refusal } from '../../base/refusal.ts'
import { findCorsGrant } from '../buckets/find-cors-grant.ts'
import type { KeyName } from '../objects/object-checks.ts'
import type { Services } from '../base/services.ts'

/** A URL for GET is one for HEAD. */
const ASKED_FOR_AS: ReadonlyMap<string, 'getSigned' | 'putSigned'> = new Map([
  ['GET', 'getSigned'],
  ['HEAD', 'getSigned'],
  ['PUT', 'putSigned'],
] as const)

export async function preflightSigned(
  services: Services,
  principal: SignedUrlPrincipal,
  { bucket, key, ...question }: KeyName & CorsQuestion,
): Promise<CorsGrant> {
  const { origin, method } = question
  const operationId = ASKED_FOR_AS.get(method)
  if (operationId === undefined)
    throw new Refusal('signed_url_mismatch', `No signed URL is for the method "${method.slice(0, 40)}"`)
  authorize(principal, operationId, { bucket, key }, services.state)
  const grant = findCorsGrant(services, { tenantId: principal.tenantId, bucket }, question)
  if (grant !== null) return grant
  throw new Refusal(
    'access_denied',
    `No CORS rule of bucket "${bucket}" lets pages of "${origin.slice(0, 200)}" send this ${method} with these headers`,
  )
}
