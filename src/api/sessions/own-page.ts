/**
 * Whether a request with a session comes from the console, and from no page of another site.
 *
 * Rules: each such request needs a header that only a script of the same origin can set, because this listener answers no preflight; and what browsers say
 * of its origin must not contradict. It is asked of reads too: a session is for the console and for nothing else.
 */
import type { FastifyRequest } from 'fastify'
import { Refusal } from '../../base/refusal.ts'

export const CONSOLE_HEADER = 'x-holdfast-console'

/** `url`: of the console. Throws Refusal access_denied. */
export function requireOwnPage({ headers }: Pick<FastifyRequest, 'headers'>, url: string): void {
  if (headers[CONSOLE_HEADER] !== '1')
    throw new Refusal(
      'access_denied',
      `A session is for the console: the header ${CONSOLE_HEADER} is missing`,
    )
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin')
    throw new Refusal('access_denied', 'A page of another origin sent this request with a session')
  const { origin, host } = headers
  if (origin === undefined || origin === url) return
  if (host !== undefined && URL.parse(origin)?.host === host.toLowerCase()) return
  throw new Refusal('access_denied', 'The Origin of this request is not that of the console')
}
