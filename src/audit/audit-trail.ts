/**
 * Where the edge leaves the rows of requests that no entry of the log tells of: reads, denials, whatever failed.
 *
 * Owns: the port. Rule: a request is begun only while there is room to tell of it.
 */
import type { AuditRow } from '../state-machine/audit/records.ts'

export interface AuditTrail {
  /** Answers wait for `durable`. */
  readonly isStrict: boolean
  /** Asked before a request is served. Throws Condition when its row could not be kept. */
  admit(): void
  /** Never throws: who was admitted is told of. */
  append(row: AuditRow): void
  /** Resolves when every row appended so far is durable. Throws Condition. */
  durable(): Promise<void>
}

/** For tests of something else. */
export const NO_TRAIL: AuditTrail = {
  isStrict: false,
  admit() {},
  append() {},
  async durable() {},
}
