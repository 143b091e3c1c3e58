/**
 * What apply sees of the stored rows, and what it hands back.
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

/** Where in the log a command stands. */
export interface ApplyContext {
  readonly index: number
  /** The time of the log. It falls only when an operator sets it back. ms since 1970 */
  readonly time: number
  /** Not later than `time`. Whatever ends something for good is judged by it: expiry, the end of a retention, trimming. */
  readonly confirmedTime: number
  /** The latest `time` there ever was: ids are made of it, so that they ascend also after the time was set back. */
  readonly orderTime: number
  /** How the time stood before the correction that came with this command. Absent: none came. */
  readonly before?: { readonly time: number; readonly confirmedTime: number }
  /** Position of the command inside its entry. */
  readonly ordinal: number
  /** Of the state: what needs a higher one is not done yet, for members that are not upgraded would do something else. */
  readonly featureLevel: number
  /** Absent: no request stands behind it. */
  readonly origin?: Origin
  /** For the audit log. Absent where nothing comes with an origin: in rehearsals. */
  readonly digest?: TextDigest
}

/** SHA-256 as lower-case hex of the UTF-8 of a text. The pure room has none of its own. */
export type TextDigest = (text: string) => string
