/**
 * The token of an Authorization header.
 */
import { Refusal } from '../base/refusal.ts'

/** Throws Refusal unauthorized. */
export function bearerOf(authorization: string | undefined): string {
  const token = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
  if (token === undefined)
    throw new Refusal('unauthorized', 'The request needs an Authorization header with a bearer token')
  return token
}
