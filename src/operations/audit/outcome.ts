/**
 * How a request ended, as the audit log sums it up: it follows from the code. [decisions 11]
 *
 * Rule: DENIED are the codes that are answered with 401 and 403; a test compares.
 */
import type { AuditRow } from '../../state-machine/audit/records.ts'
import { type RefusalCode } from '../../base/refusal.ts'

export const OUTCOMES = ['success', 'denied', 'error'] as const
export type Outcome = (typeof OUTCOMES)[number]

export const DENIED: readonly RefusalCode[] = [
  'unauthorized',
  'invalid_credentials',
  'token_invalid',
  'token_expired',
  'key_revoked',
  'tenant_disabled',
  'access_denied',
  'object_locked',
  'tenant_scope_denied',
  'invalid_signed_url',
  'signed_url_expired',
  'signed_url_mismatch',
]
const IS_DENIED: ReadonlySet<string> = new Set(DENIED)

export function outcomeOf({ code }: Pick<AuditRow, 'code'>): Outcome {
  if (code === null) return 'success'
  return IS_DENIED.has(code) ? 'denied' : 'error'
}
