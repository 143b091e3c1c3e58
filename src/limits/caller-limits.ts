/**
 * The limits of one caller: a tenant, an access key or an address.
 *
 * Owns: how the values of a tenant replace the settings of the node. Knows nothing of: use.
 * Rule: 0 is no limit, here as in settings and in the API.
 */
import type { CallerLimits } from '../config/types.ts'
import type { ScopeLimits } from '../state-machine/limits/records.ts'

/** A member that the tenant does not have is that of the settings. */
export function limitsWith(settings: CallerLimits, own: ScopeLimits | undefined): CallerLimits {
  if (own === undefined) return settings
  return {
    requestsPerSecond: own.requestsPerSecond ?? settings.requestsPerSecond,
    bytesInPerSecond: own.bytesInPerSecond ?? settings.bytesInPerSecond,
    bytesOutPerSecond: own.bytesOutPerSecond ?? settings.bytesOutPerSecond,
    burstSeconds: own.burstSeconds ?? settings.burstSeconds,
    requestsAtOnce: own.requestsAtOnce ?? settings.requestsAtOnce,
    uploadsAtOnce: own.uploadsAtOnce ?? settings.uploadsAtOnce,
  }
}
