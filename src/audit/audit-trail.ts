/**
 * Takes the audit rows of requests without a log entry: reads, denials, failures.
 *
 * Owns: the port. Rule: a request is served only while there is space for its row.
 */
import type { AuditRow } from '../state-machine/audit/records.ts'

export interface AuditTrail {
  /** Responses wait for `durable`. */
  readonly isStrict: boolean
  /** Called before a request is served. Throws Condition if its row could not be kept. */
  admit(): void
  /** Never throws: the row of an admitted request is always recorded. */
  append(row: AuditRow): void
  /** Resolves when every row appended so far is durable. Throws Condition. */
  durable(): Promise<void>
}

/** Records nothing; for tests of other parts. */
export const NO_TRAIL: AuditTrail = {
  isStrict: false,
  admit() {},
  append() {},
  async durable() {},
}
