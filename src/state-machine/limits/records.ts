/**
 * Rows of the limits that operators set for a tenant.
 */

/** The limits of a tenant, or of each of its access keys; null: the setting of the node holds. 0: no limit. */
export interface ScopeLimits {
  readonly requestsPerSecond: number | null
  readonly bytesInPerSecond: number | null
  readonly bytesOutPerSecond: number | null
  /** Of each rate: so many seconds of it may come at once. Not 0. */
  readonly burstSeconds: number | null
  readonly requestsAtOnce: number | null
  readonly uploadsAtOnce: number | null
}

export interface TenantLimitsRecord {
  readonly tenant: ScopeLimits
  /** Of each access key of the tenant. */
  readonly accessKey: ScopeLimits
  /** Its turns in a round of the waiting tenants, 1 to LIMIT_WEIGHT_MAX. */
  readonly weight: number
  readonly updatedAt: number
}

export const LIMIT_WEIGHT_MAX = 100
/** Of every limit: bytes or requests. */
export const LIMIT_MAX = 2 ** 40
export const BURST_SECONDS_MAX = 3_600
