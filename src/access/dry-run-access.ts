/**
 * Identity that makes no secrets: for dry runs, which keep nothing.
 *
 * Rule: what it makes opens nothing and is the same each time; everything that proves a caller is the real part.
 */
import type { Access, NewAccessKey } from './access.ts'

/** Shorter than any id that is given. */
const NO_KEY_ID = 'AKREHEARSED'
const NOTHING = new Uint8Array(0)

export function dryRunAccess(access: Access): Access {
  const emptyKey = (accessKeyId: string): NewAccessKey => ({ accessKeyId, secretKey: '', sealed: NOTHING })
  return {
    exchange: (input) => access.exchange(input),
    authenticateBearer: (authorization, connection) => access.authenticateBearer(authorization, connection),
    authenticateSignedUrl: (token, connection) => access.authenticateSignedUrl(token, connection),
    holderOfSignedUrl: (token, connection) => access.holderOfSignedUrl(token, connection),
    signUrl: (principal, terms, form) => access.signUrl(principal, terms, form),
    authenticateAdmin: (authorization, connection) => access.authenticateAdmin(authorization, connection),
    temporaryToken: (principal, terms) => access.temporaryToken(principal, terms),
    rateHeadersOf: (principal) => access.rateHeadersOf(principal),
    newAccessKey: () => emptyKey(NO_KEY_ID),
    newSecret: emptyKey,
    newTenantKeys: () => ({ dataKey: NOTHING, dedupKey: NOTHING, masterKeyId: '' }),
    newHook: () => ({ hookId: NO_KEY_ID, signingSecret: '', sealed: NOTHING }),
  }
}
