/**
 * What an admin token may still ask for, on every answer to it, so that a client slows down before it is refused. [decisions 1]
 *
 * Knows nothing of: how it is counted. Rule: an answer without a principal has none.
 */
import type { RateHeaders } from '../access/access.ts'
import type { Principal } from '../access/base/principal.ts'
import type { Services } from '../operations/base/services.ts'
import type { HeaderNote } from './route.ts'

export const RATE_HEADER_NOTES: readonly HeaderNote[] = [
  { name: 'RateLimit-Policy', description: 'Requests a minute and at once' },
  { name: 'RateLimit', description: 'What is left, and after how many seconds there is more' },
]

export function rateHeadersOf(services: Services, principal: Principal | null): Partial<RateHeaders> {
  return principal?.kind === 'adminToken' ? services.access.rateHeadersOf(principal) : {}
}
