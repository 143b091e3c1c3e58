/**
 * Row keys of the limits of tenants.
 */
import type { TenantLimitsRecord } from './records.ts'
import { join, type RowKey } from '../base/row-key.ts'
import type { TenantId } from '../base/record-ids.ts'

export const limitKeys = {
  limits: (tenant: TenantId): RowKey<TenantLimitsRecord> => join('limits', tenant),
} as const
