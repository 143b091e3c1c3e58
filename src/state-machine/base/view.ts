/**
 * What apply reads of the stored rows, and what it returns.
 *
 * Owns: the typed read view and writes as data. Knows nothing of: LevelDB, encodings, disks.
 * Rule: rows are immutable values; a change is a new row in a Write.
 */
import type { RowKey } from './row-key.ts'
import type { Origin } from './origin.ts'

/** A record of any kind. */
export type Row = object

export interface View {
  get<R extends Row>(key: RowKey<R>): R | undefined
}

/** `row` null removes the row. */
export interface Write {
  readonly key: RowKey
  readonly row: Row | null
}

/** The position of a command in the log, and what apply knows at that position. */
export interface ApplyContext {
  readonly index: number
  /** The log time. It decreases only when an operator sets it back. ms since 1970 */
  readonly time: number
  /** Not later than `time`. Irreversible decisions use it: expiry, the end of a retention, trimming. */
  readonly confirmedTime: number
  /** The maximum of all `time` values so far: ids are made from it, so they ascend also after the time was set back. */
  readonly orderTime: number
  /** The time before the correction that this command carries. Absent: the command carries none. */
  readonly before?: { readonly time: number; readonly confirmedTime: number }
  /** Position of the command inside its entry. */
  readonly ordinal: number
  /** The feature level of the state. Behaviour that needs a higher level stays off: members that are not upgraded would diverge. */
  readonly featureLevel: number
  /** Absent: the command has no request behind it. */
  readonly origin?: Origin
  /** For the audit log. Absent in rehearsals, whose commands carry no origin. */
  readonly digest?: TextDigest
}

/** SHA-256 of the UTF-8 bytes of a text, as lower-case hex. The state machine is pure and cannot import one. */
export type TextDigest = (text: string) => string
