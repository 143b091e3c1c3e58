/**
 * Row keys of usage and quotas.
 */
import type { QuotaRecord, UsageRecord } from './records.ts'
import { join, type RowKey } from '../base/row-key.ts'
import type { TenantId } from '../base/record-ids.ts'

export const usageKeys = {
  usage: (tenant: TenantId): RowKey<UsageRecord> => join('usage', tenant),
  quota: (tenant: TenantId): RowKey<QuotaRecord> => join('quota', tenant),
} as const
