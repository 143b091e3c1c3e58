/**
 * Takes the audit rows of requests without a log entry: reads, denials, failures, probes.
 *
 * Owns: the port. Rules: a request is served only while there is space for the rows of known callers; every request leaves its trace, as
 * a row of its own or in the count of one.
 */
import type { AuditRow } from '../state-machine/audit/records.ts'

/** `unproved`: nothing shows who asked. Their rows never take the space of others. */
export type CallerKind = 'known' | 'unproved'

/** Which rows may be counted instead of kept one by one. */
export interface RowClass {
  readonly caller: CallerKind
  /** `each`: a row of its own. `first`: so, up to a number in a minute; the others are counted. `none`: all are counted, as probes are. */
  readonly kept: 'each' | 'first' | 'none'
  /** Whose rows are counted together: an address, an IPv6 network of 64 bits, or the id of a known caller. */
  readonly by: string
}

export const EACH_ROW: RowClass = { caller: 'known', kept: 'each', by: '' }

export interface AuditTrail {
  /** Responses wait for `durable`. */
  readonly isStrict: boolean
  /** Called before a request is served. Throws Condition if the row of a known caller could not be kept. */
  admit(): void
  /** Never throws: a row of `each` of an admitted request is always recorded. Absent: `EACH_ROW`. */
  append(row: AuditRow, how?: RowClass): void
  /** Resolves when every row of such callers that was appended and not counted is durable. Absent: `known`. Throws Condition. */
  durable(caller?: CallerKind): Promise<void>
}

/** Records nothing; for tests of other parts. */
export const NO_TRAIL: AuditTrail = {
  isStrict: false,
  admit() {},
  append() {},
  async durable() {},
}
