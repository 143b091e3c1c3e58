/**
 * What a caller may still ask for, on every answer to it, so that a client slows down before it is refused. [decisions 1]
 *
 * Knows nothing of: how it is counted. Rule: an answer without a principal has none.
 */
import type { RateFields } from '../limits/rate-fields.ts'
import type { AccessKeyPrincipal, Principal } from '../access/base/principal.ts'
import type { Caller } from '../limits/limits.ts'
import type { Services } from '../operations/base/services.ts'
import type { HeaderNote } from './route.ts'

export const RATE_HEADER_NOTES: readonly HeaderNote[] = [
  { name: 'RateLimit-Policy', description: 'Requests a minute and at once' },
  { name: 'RateLimit', description: 'What is left, and after how many seconds there is more' },
]

export function rateHeadersOf(services: Services, principal: Principal | null): RateFields {
  if (principal === null) return {}
  if (principal.kind === 'adminToken') return services.access.rateHeadersOf(principal)
  return services.limits.fieldsOf(limitedCaller(principal))
}

/** As the limits of the data plane count it. */
export function limitedCaller({ tenantId, accessKeyId, circumstances }: AccessKeyPrincipal): Caller {
  return { tenantId, accessKeyId, address: circumstances.address }
}
