/**
 * The command that sets a quota, and its reply.
 */
import type { TenantId } from '../base/record-ids.ts'
import type { QuotaRecord, QuotaReport } from './records.ts'

export type QuotaCommand = { readonly type: 'setQuota'; readonly tenantId: TenantId } & Omit<
  QuotaRecord,
  'updatedAt'
>

export interface QuotaReplies {
  setQuota: QuotaReport
}
