/**
 * Which requests belong to `listeners.content_origin`: downloads by signed URLs, and what else a link does; and nothing of the API.
 *
 * Knows nothing of: tokens, objects. Rule: what an uploader stored as a page or a script comes from that origin only, and the API does not
 * answer there, so that a browser keeps the two apart. The Host header decides: no page can choose it for its requests.
 */
import type { FastifyRequest } from 'fastify'
import { Refusal } from '../base/refusal.ts'
import { dataUrlOf } from '../config/listener-urls.ts'
import type { Config } from '../config/types.ts'
import type { Plane } from './plane.ts'

/** For every request; it throws Refusal signed_url_mismatch, invalid_request. */
export function contentOriginGate(
  config: Pick<Config, 'listeners' | 'dataTls'>,
  { compatibilityApi }: Pick<Plane, 'compatibilityApi'> = {},
): (request: FastifyRequest) => void {
  const { contentOrigin } = config.listeners
  if (contentOrigin === null) return () => undefined
  const { protocol, host } = new URL(contentOrigin)
  const apiUrl = dataUrlOf(config)
  return (request) => {
    // Without a port it is the same host as with the port of the scheme.
    const isThere = URL.parse(`${protocol}//${request.headers.host ?? ''}`)?.host === host
    const { auth, operation, isCompatibility = false } = request.routeOptions.config
    const isLink = isCompatibility && compatibilityApi?.isLink(request.originalUrl) === true
    if (auth === 'signedUrl' || isLink) {
      if (isThere || !isDownload(request)) return
      throw new Refusal(
        'signed_url_mismatch',
        `Contents are served at ${contentOrigin} only: open the same path there`,
      )
    }
    if (isThere && operation?.isRoutine !== true)
      throw new Refusal('invalid_request', `${host} serves signed URLs only: the API is at ${apiUrl}`)
  }
}

function isDownload({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD'
}
