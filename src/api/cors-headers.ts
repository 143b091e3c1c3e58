/**
 * The headers by which a browser lets a page read an answer. [Fetch 3.3] [native: Authorization 3]
 *
 * Owns: their names, and on which answers they stand. Knows nothing of: how rules are decided.
 * Rules: they are sent only to a caller that has proved that it may learn of the bucket, so that no other client learns from them
 * that it exists; cookies and the like are never allowed, there are none; `Vary` states to caches that answers differ by origin.
 */
import type { FastifyRequest } from 'fastify'
import { canSeeBucket } from '../access/authorize.ts'
import type { CorsGrant } from '../access/cors-match.ts'
import type { AccessKeyPrincipal, Principal } from '../access/base/principal.ts'
import { Attached } from '../base/attached.ts'
import { findCorsGrant } from '../operations/buckets/find-cors-grant.ts'
import type { Services } from '../operations/base/services.ts'

type Headers = Readonly<Record<string, string>>

const VARY: Headers = { vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers' }
const ANSWERS = new Attached<FastifyRequest, Headers>()

/** Settles what is said on every answer to this request, problems too. Nothing where the request names no bucket. */
export function admitOrigin(
  services: Services,
  request: FastifyRequest,
  { principal, bucket }: { readonly principal: Principal | null; readonly bucket: string | undefined },
): void {
  if (principal?.kind !== 'accessKey' || bucket === undefined) return
  const { origin } = request.headers
  const isSeen = origin !== undefined && mayHearOf(principal, bucket)
  const question = { origin: origin ?? '', method: request.method, headers: [] }
  const grant = isSeen ? findCorsGrant(services, { tenantId: principal.tenantId, bucket }, question) : null
  const headers = grant === null ? VARY : { ...allowOrigin(grant), ...exposed(grant) }
  ANSWERS.set(request, headers)
}

/** The holder of a URL may learn of the bucket of the URL, and of none that only the key behind it may see. */
function mayHearOf(principal: AccessKeyPrincipal, bucket: string): boolean {
  const isOfUrl = principal.signedUrl === null || principal.signedUrl.bucket === bucket
  return isOfUrl && canSeeBucket(principal, bucket)
}

export function corsHeadersOf(request: FastifyRequest): Headers {
  return ANSWERS.get(request) ?? {}
}

/** The request is judged again, from its proof on. */
export function forgetOrigin(request: FastifyRequest): void {
  ANSWERS.set(request, undefined)
}

/** `asked`: the headers that the page wants to send. A `*` in their place would leave out some of them. [Fetch 4.8] */
export function preflightHeaders(grant: CorsGrant, asked: readonly string[]): Headers {
  const { allowedMethods, maxAgeSeconds } = grant.rule
  return {
    ...allowOrigin(grant),
    'access-control-allow-methods': allowedMethods.join(', '),
    ...(asked.length === 0 ? {} : { 'access-control-allow-headers': asked.join(', ') }),
    ...(maxAgeSeconds === null ? {} : { 'access-control-max-age': `${maxAgeSeconds}` }),
  }
}

function allowOrigin(grant: CorsGrant): Headers {
  return { ...VARY, 'access-control-allow-origin': grant.allowOrigin }
}

function exposed({ rule: { exposeHeaders } }: CorsGrant): Headers {
  if (exposeHeaders === null || exposeHeaders.length === 0) return {}
  return { 'access-control-expose-headers': exposeHeaders.join(', ') }
}
