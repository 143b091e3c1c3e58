/**
 * The session by which a request of the admin plane proves its caller, where it has no Authorization header.
 *
 * Rule: an Authorization header wins, so that programs and tokens are served as if there were no sessions.
 */
import type { FastifyRequest } from 'fastify'
import type { Proof } from '../../access/access.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import type { Services } from '../../operations/base/services.ts'
import { requireOwnPage } from './own-page.ts'
import { cookieJar } from './session-cookie.ts'

/** null: there is no session. Throws Refusal access_denied. */
export function sessionProof(
  { config, access }: Services,
  request: FastifyRequest,
): Proof<AdminTokenPrincipal> | null {
  const { authorization, cookie } = request.headers
  if (config.console.oidc === null || authorization !== undefined || cookie === undefined) return null
  const secret = cookieJar(config.console.url).session(cookie)
  if (secret === null) return null
  requireOwnPage(request, config.console.url)
  return access.openSession(secret)
}
