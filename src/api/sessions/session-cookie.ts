/**
 * The two cookies of the console: the session of a person, and what a log-in has to come back with.
 *
 * Owns: names, attributes, reading them from a request. Rules: no script reads them; over https they have the prefix `__Host-`, so that no other host and
 * no plain page sets them; the session is sent only by pages of this site, the other one also when the provider sends the browser back.
 */
import { looksLikeSessionSecret } from '../../access/admin-token.ts'

const PREFIX = '__Host-'
const SESSION = 'holdfast-session'
const PENDING = 'holdfast-log-in'
/** Browsers send few; a header of other servers on the same host may be long. */
const COOKIES_MAX = 64

export interface CookieJar {
  /** null: there is none of that form. */
  readonly session: (header: string | undefined) => string | null
  readonly pending: (header: string | undefined) => string | null
  /** For `Set-Cookie`. */
  readonly keepSession: (secret: string, seconds: number) => string
  readonly keepPending: (text: string, seconds: number) => string
  readonly forgetSession: string
  readonly forgetPending: string
}

/** `url`: of the console. */
export function cookieJar(url: string): CookieJar {
  const isSecure = url.startsWith('https:')
  const nameOf = (name: string): string => (isSecure ? PREFIX : '') + name
  const written = (name: string, value: string, attributes: readonly string[]): string =>
    [`${nameOf(name)}=${value}`, 'Path=/', 'HttpOnly', ...(isSecure ? ['Secure'] : []), ...attributes].join(
      '; ',
    )
  const strict = (seconds: number): readonly string[] => ['SameSite=Strict', `Max-Age=${seconds}`]
  const lax = (seconds: number): readonly string[] => ['SameSite=Lax', `Max-Age=${seconds}`]
  return {
    session: (header) => {
      const secret = valueOf(header, nameOf(SESSION))
      return secret !== null && looksLikeSessionSecret(secret) ? secret : null
    },
    pending: (header) => valueOf(header, nameOf(PENDING)),
    keepSession: (secret, seconds) => written(SESSION, secret, strict(seconds)),
    keepPending: (text, seconds) => written(PENDING, text, lax(seconds)),
    forgetSession: written(SESSION, '', strict(0)),
    forgetPending: written(PENDING, '', lax(0)),
  }
}

/** The first of this name; a browser sends none twice that it got from us. */
function valueOf(header: string | undefined, name: string): string | null {
  for (const pair of (header ?? '').split(';', COOKIES_MAX)) {
    const at = pair.indexOf('=')
    if (at !== -1 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
  }
  return null
}
