/**
 * What the audit log leaves out, and what a handler may add to the row of its request.
 *
 * Owns: the table of exceptions; there are no others. Rule: docs/guide/audit.md names them.
 */
import type { OperationId } from '../access/base/operation-ids.ts'
import type { AuditDetails } from '../state-machine/audit/records.ts'
import type { Actor } from '../state-machine/base/origin.ts'

/**
 * What machines ask every few seconds, and what shows nothing of what is stored. `always`: whatever the answer is; `success`:
 * a refusal leaves a row.
 */
export const UNAUDITED: Readonly<Partial<Record<OperationId, 'always' | 'success'>>> = {
  healthz: 'always',
  readyz: 'always',
  adminHealthz: 'always',
  adminReadyz: 'always',
  getMetrics: 'success',
}

/** Members stand in the place of what the request said. */
export interface AuditNote {
  readonly actor?: Actor
  readonly tenantId?: string
  readonly bucket?: string | null
  readonly key?: string | null
  readonly details?: AuditDetails
}
