/** What a handler may add to the row of its request in the audit log. */
import type { AuditDetails } from '../state-machine/audit/records.ts'
import type { Actor } from '../state-machine/base/origin.ts'

/** Each member replaces what the request said. */
export interface AuditNote {
  readonly actor?: Actor
  readonly tenantId?: string
  readonly bucket?: string | null
  readonly key?: string | null
  readonly details?: AuditDetails
}
