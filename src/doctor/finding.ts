/**
 * The result of one check of the doctor.
 *
 * Owns: the shape. Knows nothing of: files, sockets, terminals.
 * Rule: a warning or an error states what was found, what was expected and what to do.
 */
import type { Severity } from '../operations/doctor/self-report.ts'
import type { CheckId } from './check-list.ts'

export type { Severity }

export interface Finding {
  readonly check: CheckId
  readonly severity: Severity
  readonly found: string
  /** Null when all is well. */
  readonly expected: string | null
  /** What to do; null when all is well. */
  readonly action: string | null
}

interface Trouble {
  readonly found: string
  readonly expected: string
  readonly action: string
}

export const well = (check: CheckId, found: string): Finding => ({
  check,
  severity: 'ok',
  found,
  expected: null,
  action: null,
})

export const warning = (check: CheckId, trouble: Trouble): Finding => ({
  check,
  severity: 'warning',
  ...trouble,
})

export const error = (check: CheckId, trouble: Trouble): Finding => ({ check, severity: 'error', ...trouble })

const RANK: Readonly<Record<Severity, number>> = { ok: 0, warning: 1, error: 2 }

/** The highest severity of all findings; `ok` without any. */
export function worst(findings: readonly Finding[]): Severity {
  return findings.reduce<Severity>((so, { severity }) => (RANK[severity] > RANK[so] ? severity : so), 'ok')
}
