/**
 * What a request of the S3 API goes through once its caller is proved and its action is known: audit, limits, origin, headers.
 *
 * Owns: which route a request means. Rule: signed requests and browser forms go the same way from here on.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AccessKeyPrincipal } from '../../../access/base/principal.ts'
import { Attached } from '../../../base/attached.ts'
import type { Services } from '../../../operations/base/services.ts'
import { admitOrigin, corsHeadersOf } from '../../cors-headers.ts'
import { Exchange } from '../../exchange.ts'
import { admitCaller } from '../../proved-request.ts'
import { rateHeadersOf } from '../../rate-headers.ts'
import { RequestAudit } from '../../request-audit.ts'
import { checkExpectedOwner, refuseForeignS3Headers } from '../base/s3-headers.ts'
import type { S3Route } from '../base/s3-route.ts'

const ROUTES = new Attached<FastifyRequest, S3Route>()

/** The route that a request was found to mean; undefined: none yet. */
export const s3RouteOf = (request: FastifyRequest): S3Route | undefined => ROUTES.get(request)

/** On every answer, errors too: S3's names of what `x-request-id` and `x-served-by` say. */
export function s3Headers({ cluster }: Services, request: FastifyRequest): Record<string, string> {
  return { 'x-amz-request-id': request.id, 'x-amz-id-2': cluster.nodeId }
}

export interface Entering {
  readonly route: S3Route
  readonly principal: AccessKeyPrincipal
  /** '' for none. */
  readonly bucket: string
  /** What the request names, for its row. */
  readonly names: () => Readonly<Record<string, string>>
}

/** The services through which the operation proposes as this request. Throws Refusal, Condition, S3Fault. */
export async function enterRoute(
  services: Services,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  { route, principal, bucket, names }: Entering,
): Promise<Services> {
  const audit = RequestAudit.of(request)
  const exchange = Exchange.of(request.raw, reply.raw)
  const { operation, status } = route
  const audited = { operation, path: '', success: { status } }
  ROUTES.set(request, route)
  audit.routed(audited, names)
  const isUpload = route.body.kind === 'bytes' || route.isUpload === true
  await admitCaller(services, { isUpload, isListing: operation.isListing }, { principal, exchange })
  admitOrigin(services, request, { principal, bucket: bucket === '' ? undefined : bucket })
  reply
    .headers(s3Headers(services, request))
    .headers(corsHeadersOf(request))
    .headers(rateHeadersOf(services, principal))
  refuseForeignS3Headers(route, request.headers)
  checkExpectedOwner(request.headers, principal.tenantId)
  return audit.services(audited)
}
