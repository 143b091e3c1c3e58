/**
 * The port through which the replicated metadata of this node is read.
 *
 * Owns: the ways to read rows. What a row means is in its family in src/state-machine; questions over several rows are the other
 * functions of this folder. All rows come from local LevelDB: a caller that needs the latest state of the cluster passes
 * cluster.readBarrier() first.
 * Rule: pages are bounded; nothing here ever returns "all".
 */
import type { KeyRange, RowKey } from '../../state-machine/base/row-key.ts'
import type { View } from '../../state-machine/base/view.ts'
import type { OpenState } from '../rows/open-state.ts'

export interface Page<T> {
  readonly items: readonly T[]
  /** Ask again with this as `after`; null when nothing is left. */
  readonly next: string | null
}

/** `prefix` and `after` are parts of names inside the range. */
export interface PageQuery {
  readonly prefix?: string
  /** Exclusive. Empty: from the first row on. */
  readonly after?: string
  /** Rows whose names continue behind `after` with a further part are stepped over too. */
  readonly isBelowSkipped?: boolean
  /** At most 1,000 rows come. */
  readonly limit: number
}

export interface RowPage<R extends object> extends Page<R> {
  /** The keys of `items`. */
  readonly names: readonly RowKey<R>[]
}

/** Single rows as they are now, and pages. It is a View: functions of the pure room take it as it is. */
export interface RowReader extends View {
  /** Rows of one range in the order of their keys, all from one cut. */
  page<R extends object>(range: KeyRange<R>, query: PageQuery): Promise<RowPage<R>>
}

/** Every member throws Condition while the state is being replaced, except `usable`. */
export interface StateReader extends RowReader {
  /** Single rows of one moment, for an answer that lies in several of them. */
  cut<T>(read: (view: View) => T): T
  /** Keeps the database open until `work` is done, for the readers of this folder. For bounded work only: an install waits for it. */
  lease<T>(work: (state: OpenState) => Promise<T>): Promise<T>
  /** Null while nothing may be read. */
  readonly usable: OpenState | null
}
