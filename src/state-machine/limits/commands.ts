/**
 * The command that sets the limits of a tenant, and its reply.
 */
import type { TenantId } from '../base/record-ids.ts'
import type { TenantLimitsRecord } from './records.ts'

/** `limits` null: those of the settings hold again. */
export interface LimitsCommand {
  readonly type: 'setTenantLimits'
  readonly tenantId: TenantId
  readonly limits: Omit<TenantLimitsRecord, 'updatedAt'> | null
}

export interface LimitsReplies {
  setTenantLimits: TenantLimitsRecord | null
}
