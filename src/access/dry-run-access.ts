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
    openBearer: (authorization) => access.openBearer(authorization),
    openSignedUrl: (token) => access.openSignedUrl(token),
    signUrl: (principal, terms, form) => access.signUrl(principal, terms, form),
    openSignature: (signed) => access.openSignature(signed),
    openPolicy: (signed) => access.openPolicy(signed),
    openSession: (secret) => access.openSession(secret),
    openAdmin: (authorization) => access.openAdmin(authorization),
    temporaryToken: (principal, terms) => access.temporaryToken(principal, terms),
    answered: (refusal) => access.answered(refusal),
    adminNow: (principal) => access.adminNow(principal),
    rateHeadersOf: (principal) => access.rateHeadersOf(principal),
    newAccessKey: () => emptyKey(NO_KEY_ID),
    newSecret: emptyKey,
    newTenantKeys: () => ({ dataKey: NOTHING, dedupKey: NOTHING, masterKeyId: '' }),
    newHook: () => ({ hookId: NO_KEY_ID, signingSecret: '', sealed: NOTHING }),
  }
}
